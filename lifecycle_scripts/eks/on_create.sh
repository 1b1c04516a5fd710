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
# in a process of its own, since `set -e` counts for nothing in a command whose failure is looked at
set +e
bash set_up.sh 2>&1 | tee -a "$LOG"
code="${PIPESTATUS[0]}"
set -e
if ((code != 0)); then
    sync
    sleep "$SECONDS_FOR_THE_LOG"
fi
exit "$code"
