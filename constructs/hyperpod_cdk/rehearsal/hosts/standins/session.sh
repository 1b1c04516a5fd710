#!/bin/bash
# Stands in for `aws ssm start-session --target sagemaker-cluster:ID_GROUP-INSTANCE`: a root shell on that node's host.
# Every other command goes to the machine's own AWS CLI.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ "${1:-} ${2:-}" != "ssm start-session" ]; then
    PATH=${PATH#"$here:"}
    exec aws "$@"
fi
instance=$(grep -oE -- 'i-[0-9a-f]{17}' <<<"$*" | tail -n 1) || { echo "no instance in: $*" >&2; exit 2; }
init=$(cat "$here/../instances/$instance" 2>/dev/null) || { echo "$instance: no such node" >&2; exit 254; }
# a terminal of its own on the host, else a shell has no job control and Ctrl-C ends the session
if [ -t 0 ]; then exec nsenter --target "$init" --all -- runuser --pty --login root; fi
exec nsenter --target "$init" --all -- \
    env -i TERM="${TERM:-dumb}" HOME=/root USER=root bash -c 'cd && exec bash --login'
