#!/bin/bash
# OnCreate of a node of Amazon EKS: the image sets it up, these say where its images and pods' files lie.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# The service runs lifecycle scripts without HOME.
export HOME="${HOME:-/root}"
export LC_ALL=C
# stands for / where the scripts are tried out
ROOT="${HYPERPOD_CDK_ROOT:-}"
export ROOT="${ROOT%/}"
readonly LOG="$ROOT/var/log/provision/provisioning.log"
# for the agent that sends the log away: a node that fails is taken down at once
readonly SECONDS_FOR_THE_LOG=60

mkdir -p "${LOG%/*}"
touch "$LOG"
before="$(stat -c %s "$LOG")"
# In a process of its own, since `set -e` counts for nothing in a command whose failure is looked at; and into
# the file, since what a step leaves running would hold a pipe, and with it this script, for ever.
bash set_up.sh </dev/null >>"$LOG" 2>&1 &
set_up=$!
tail -c "+$((before + 1))" -s 0.2 -f --pid="$set_up" "$LOG" || true
code=0
wait "$set_up" || code=$?
if ((code != 0)); then
    sync
    sleep "$SECONDS_FOR_THE_LOG"
fi
exit "$code"
