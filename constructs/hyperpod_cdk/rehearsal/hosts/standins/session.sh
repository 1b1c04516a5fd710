#!/bin/bash
# Stands in for `aws ssm start-session --target sagemaker-cluster:ID_GROUP-INSTANCE` and its Session Manager plugin: a
# root shell on that node's host, or one command there. Every other command goes to the machine's own AWS CLI.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ "${0##*/}" = session-manager-plugin ]; then
    echo "The Session Manager plugin was installed successfully. Use the AWS CLI to start a session."
    exit
fi
if [ "${1:-} ${2:-}" != "ssm start-session" ]; then
    PATH=${PATH#"$here:"}
    exec aws "$@"
fi

target='' document='' parameters='{}'
while [ $# -gt 0 ]; do
    case $1 in
    --target) target=$2 ;;
    --document-name) document=$2 ;;
    --parameters) parameters=$2 ;;
    esac
    shift
done
instance=$(grep -oE -- 'i-[0-9a-f]{17}$' <<<"$target") || { echo "no instance in: $target" >&2; exit 2; }
init=$(cat "$here/../instances/$instance" 2>/dev/null) || init=none
if [ "$(cat "/proc/$init/comm" 2>/dev/null)" != systemd ]; then
    echo >&2
    echo "An error occurred (TargetNotConnected) when calling the StartSession operation: $target is not connected." >&2
    exit 254
fi
host=(nsenter --target "$init" --all -- env -i "TERM=${TERM:-dumb}" HOME=/root USER=root)

case $document in
'')
    # a terminal of its own on the host, else a shell has no job control and Ctrl-C ends the session
    if [ -t 0 ]; then exec nsenter --target "$init" --all -- runuser --pty --login root; fi
    exec "${host[@]}" bash -c 'cd && exec bash --login'
    ;;
AWS-StartNonInteractiveCommand) ;;
*)
    echo "An error occurred (InvalidDocument) when calling the StartSession operation: $document" >&2
    exit 254
    ;;
esac

# as the agent does: the words of the command, no shell, no input (amazon-ssm-agent, plugins/sessionplugin)
split='import json, shlex, sys; print("\0".join(shlex.split(json.loads(sys.argv[1])["command"][0])), end="\0")'
mapfile -d '' -t command < <(python3 -I -c "$split" "$parameters")
session=rehearsal-${instance#i-}
printf '\nStarting session with SessionId: %s\n' "$session"
"${host[@]}" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${command[@]}" 2>&1 </dev/null &
running=$!
# as the plugin does: the end of its own input is the end of the session (shellsession_unix.go)
cat >/dev/null <&0 &
reading=$!
ended=0
wait -n -p ended || true
if [ "$ended" = "$reading" ]; then
    kill "$running" 2>/dev/null || true
    echo "Cannot perform start session: EOF"
    exit
fi
kill "$reading"
printf '\n\nExiting session with sessionId: %s.\n\n' "$session"
