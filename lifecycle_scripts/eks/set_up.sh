#!/bin/bash
# The steps of a node's set-up, in order.
set -Eeuo pipefail
# shellcheck source=SCRIPTDIR/output.sh
source ./output.sh
trap 'unexpected "${BASH_SOURCE[0]##*/}, line $LINENO" "$BASH_COMMAND"' ERR
# shellcheck source=SCRIPTDIR/settings.sh
source ./settings.sh
# shellcheck source=SCRIPTDIR/mounts.sh
source ./mounts.sh
# shellcheck source=SCRIPTDIR/disk.sh
source ./disk.sh
# shellcheck source=SCRIPTDIR/own_steps.sh
source ./own_steps.sh

say "set-up begins"
read_settings settings
run_own_steps before
use_disk
run_own_steps after
say "set-up succeeded after $SECONDS s"
