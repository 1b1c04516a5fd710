"""The unit that brings Lustre's network up on EFA before anything is mounted.

Source: FSx for Lustre guide, configure-efa-clients.html: the modules, their order, EFA preferred over TCP,
32 credits a peer, which devices are EFA's, and how many of them a node uses: a file system takes 1024 over
all of its clients. That page's own script comes from a documentation site without version or checksum, so
that it is not downloaded; where somebody ran it, its unit is used.
"""

from __future__ import annotations

import re

from hyperpod_node.context import Context
from hyperpod_node.root import Root

ADVICE = (
    "Lustre is used over TCP meanwhile; see `journalctl -u hyperpod-cdk-lustre-efa` and `lnetctl net show`; "
    "nodes and file system need one zone, and a security group that lets all traffic through within itself"
)
UNITS = "/etc/systemd/system"
AWS_UNIT = "configure-efa-fsx-lustre-client.service"
OWN_UNIT = "hyperpod-cdk-lustre-efa.service"
SCRIPT = "/opt/hyperpod-cdk/lustre-efa.sh"
DEVICES = "/sys/class/infiniband"
DRIVER = "efa"
INTERFACES = {
    "ml.p5.48xlarge": 8,
    "ml.p5e.48xlarge": 8,
    "ml.p5en.48xlarge": 8,
    "ml.p6-b200.48xlarge": 8,
    "ml.p6-b300.48xlarge": 16,
    "ml.p6e-gb200.36xlarge": 8,
}
OTHERS_INTERFACES = 2
"""Of other instances with several network cards; those with one have one device."""
SCRIPT_TEXT = """#!/bin/bash
# by hyperpod-cdk: Lustre's network on TCP and on every EFA device, EFA first
set -euo pipefail
interface=$(ip -o -4 route show to default | sed -n 's/.* dev \\([^ ]*\\).*/\\1/p;q')
modprobe lnet
modprobe kefalnd ipif_name="$interface"
modprobe ksocklnd
lnetctl lnet configure
# no pipe: grep ends at the first match, and what then still writes counts as a failure
grep -q "nid:.*@tcp" <<<"$(lnetctl net show --net tcp)" || lnetctl net add --net tcp --if "$interface"
mapfile -t devices < <(for device in /sys/class/infiniband/*; do
  driver=$(readlink -f "$device/device/driver" || true)
  if [ "${driver##*/}" = efa ]; then readlink -f "$device"; fi
done | sort)
count=${#devices[@]}
used=$((count < LIMIT ? count : LIMIT))
# spread over the node's cards, whose order is that of their places
for ((i = 0; i < used; i++)); do
  name=${devices[i * count / used]##*/}
  grep -qw "$name" <<<"$(lnetctl net show --net efa)" ||
    lnetctl net add --net efa --if "$name" --peer-credits 32
done
lnetctl set discovery 1
grep -q "src: efa" <<<"$(lnetctl udsp show)" || lnetctl udsp add --src efa --priority 0
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
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if (path / "device/driver").resolve().name == DRIVER)


def limit(instance_type: str) -> int:
    """How many devices of an instance carry Lustre at most."""
    return INTERFACES.get(instance_type, OTHERS_INTERFACES)


def script(instance_type: str) -> str:
    """The unit's script for an instance type."""
    return SCRIPT_TEXT.replace("LIMIT", str(limit(instance_type)))


def carrying(context: Context) -> tuple[int, int]:
    """How many EFA devices carry Lustre, and how many shall."""
    found = devices(context.root)
    text = context.commands.run("lnetctl", "net", "show", "--net", "efa", advice=ADVICE).text
    down = len(re.findall(r"^\s*status:\s*down\s*$", text, re.MULTILINE))
    named = sum(re.search(rf"\b{re.escape(name)}\b", text) is not None for name in found)
    return max(named - down, 0), min(len(found), limit(context.node.instance.instance_type))
