#!/bin/bash
# OnCreate: the whole set-up of a node is ours.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# The service runs lifecycle scripts without HOME.
export HOME="${HOME:-/root}"
exec python3 -m hyperpod_node.main --hook on_create
