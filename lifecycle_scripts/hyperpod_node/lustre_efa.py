"""The unit that brings Lustre's network up on EFA before anything is mounted.

Source: FSx for Lustre guide, configure-efa-clients.html: the modules, their order, EFA preferred over TCP,
and 32 credits a peer. That page's own script comes from a documentation site without version or checksum, so
that it is not downloaded; where somebody ran it, its unit is used.
"""

from __future__ import annotations

from hyperpod_node.root import Root

UNITS = "/etc/systemd/system"
AWS_UNIT = "configure-efa-fsx-lustre-client.service"
OWN_UNIT = "hyperpod-cdk-lustre-efa.service"
SCRIPT = "/opt/hyperpod-cdk/lustre-efa.sh"
DEVICES = "/sys/class/infiniband"
SCRIPT_TEXT = """#!/bin/bash
# by hyperpod-cdk: Lustre's network on TCP and on every EFA device, EFA first
set -euo pipefail
interface=$(ip -o -4 route show to default | sed -n 's/.* dev \\([^ ]*\\).*/\\1/p;q')
modprobe lnet
modprobe kefalnd ipif_name="$interface"
modprobe ksocklnd
lnetctl lnet configure
lnetctl net show --net tcp | grep -q "nid:.*@tcp" || lnetctl net add --net tcp --if "$interface"
for device in /sys/class/infiniband/*; do
  name=${device##*/}
  lnetctl net show --net efa | grep -qw "$name" || lnetctl net add --net efa --if "$name" --peer-credits 32
done
lnetctl set discovery 1
lnetctl udsp show | grep -q "src: efa" || lnetctl udsp add --src efa --priority 0
modprobe lustre
"""
# AWS's own unit asks instance metadata, and stays failed when that answers late at boot (field report 100).
DROP_IN = f"{UNITS}/{AWS_UNIT}.d/hyperpod-cdk.conf"
DROP_IN_TEXT = """[Unit]
StartLimitIntervalSec=0

[Service]
ExecStartPre=/usr/bin/timeout 120 /usr/bin/curl --silent --fail --output /dev/null --noproxy * --retry 60 \\
  --retry-connrefused --retry-delay 2 --max-time 120 -X PUT \\
  -H "X-aws-ec2-metadata-token-ttl-seconds: 60" http://169.254.169.254/latest/api/token
Restart=on-failure
RestartSec=5
"""
UNIT_TEXT = f"""[Unit]
Description=Lustre over EFA, by hyperpod-cdk
Wants=network-online.target
After=network-online.target
Before=remote-fs-pre.target
StartLimitIntervalSec=0

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={SCRIPT}
Restart=on-failure
RestartSec=5

[Install]
WantedBy=multi-user.target
"""


def unit(root: Root) -> str:
    """The unit of this node that brings EFA up for Lustre; empty when there is none."""
    found = [name for name in (AWS_UNIT, OWN_UNIT) if root.path(f"{UNITS}/{name}").exists()]
    return found[0] if found else ""


def devices(root: Root) -> list[str]:
    """The node's EFA devices, from the kernel: tools may not be on PATH (field report 101)."""
    folder = root.path(DEVICES)
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
