#!/bin/bash
# OnInitComplete: the service has set Slurm up; ours come after.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# The service runs lifecycle scripts without HOME.
export HOME="${HOME:-/root}"
exec python3 -m hyperpod_node.main --hook on_init_complete
