#!/bin/bash
# OnInitComplete: the service has set Slurm up; ours come after.
set -euo pipefail
[[ "${BASH_SOURCE[0]}" != */* ]] || cd "${BASH_SOURCE[0]%/*}/"
# The service runs lifecycle scripts without HOME.
export HOME="${HOME:-/root}"
# -S: nothing of site-packages; -B: the folder is used once
exec python3 -BS -m hyperpod_node.main --hook on_init_complete
