#!/bin/bash
# The user's own steps: *.sh and *.py of extra/before.d and extra/after.d, in the order of their names.

readonly OWN_STEP_SECONDS=3600
readonly KILL_SECONDS=30

run_own_steps() {
    local script interpreter
    for script in extra/"$1".d/*; do
        case "$script" in
        *.sh) interpreter=bash ;;
        *.py) interpreter=python3 ;;
        *) continue ;;
        esac
        if grep -q $'\r' "$script"; then
            give_up "$script has Windows line endings" "save it with LF line endings and deploy again"
        fi
        run_own_step "$interpreter" "$script"
    done
}

# only on a real node, or where it is asked for: elsewhere it would act on the machine it is tried on
run_own_step() {
    local code=0
    if [[ -n "$ROOT" && "${HYPERPOD_CDK_RUN_EXTRA:-}" != 1 ]]; then
        say "$2: not run, as this is no real node"
        return
    fi
    say "$2 begins"
    timeout --kill-after="$KILL_SECONDS" "$OWN_STEP_SECONDS" "$1" "$2" || code=$?
    case "$code" in
    0) say "$2 succeeded" ;;
    124) give_up "$2 takes longer than $OWN_STEP_SECONDS s" "this is a script of your own: make it shorter" ;;
    137) give_up "$2 was killed" "it does not end after $OWN_STEP_SECONDS s, or the node has too little memory" ;;
    *) give_up "$2 ended with exit code $code" "this is a script of your own: its last lines are above" ;;
    esac
}
