#!/bin/bash
# What is told, and how it ends.

say() {
    # a full disk takes no more lines, and is no reason to fail
    TZ=UTC printf '%(%FT%TZ)T [hyperpod-cdk] %s\n' -1 "$*" || true
}

warn() {
    say "WARNING: $*"
}

# give_up WHAT ADVICE: ends the set-up, and with it the node
give_up() {
    say "FAILED: $1"
    say "what to do: $2"
    exit 1
}

unexpected() {
    give_up "$1: $2" "the lines above are the command's own; this is a fault of the scripts, please report it"
}
