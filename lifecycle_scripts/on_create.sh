#!/bin/bash
# OnCreate: the whole set-up of a node is ours.
set -euo pipefail
[[ "${BASH_SOURCE[0]}" != */* ]] || cd "${BASH_SOURCE[0]%/*}/"
# The service runs lifecycle scripts without HOME.
export HOME="${HOME:-/root}"
# -S: nothing of site-packages; -B: the folder is used once
exec python3 -BS -m hyperpod_node.main --hook on_create
