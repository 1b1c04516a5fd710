#!/bin/bash
# What is mounted, by the kernel's own list: a path is compared as a whole, not looked for in a line.

is_mounted() {
    local where
    while read -r _ where _; do
        [[ "$where" == "$1" ]] && return 0
    done <"$ROOT/proc/self/mounts"
    return 1
}

is_mounted_below() {
    local where
    while read -r _ where _; do
        [[ "$where" == "$1"/* ]] && return 0
    done <"$ROOT/proc/self/mounts"
    return 1
}
