"""Commands that fail on a host: in front of the real one stands a script that fails, or lets it run."""

import shlex
from collections.abc import Sequence
from itertools import groupby

from hyperpod_cdk.rehearsal.hosts.host import Host
from hyperpod_cdk.rehearsal.node_commands.machine import CommandFault

FOLDER = "/usr/local/sbin"
"""Comes first on every PATH."""
COUNTS = "/run/sandbox-faults"
SCRIPT = """\
#!/bin/bash
# Fails as a rehearsal asks for; otherwise the real command runs.
line="{name} $*"
{cases}exec "$(type -aP {name} | grep -vxF {folder}/{name} | head -n 1)" "$@"
"""
CASE = """\
left={counts}/{number}
if [[ $line == *{contains}* && $(cat "$left" 2>/dev/null || echo {times}) -ne 0 ]]; then
    mkdir -p {counts}
    echo $(($(cat "$left" 2>/dev/null || echo {times}) - 1)) >"$left"
    echo {output}
    exit {exit_code}
fi
"""


def spoil(host: Host, faults: Sequence[CommandFault]) -> None:
    """Let commands fail on a host from now on.

    Args:
        host: which is up.
        faults: what fails, how often, and what it says.
    """
    for name, text in scripts(faults).items():
        path = host.path(f"{FOLDER}/{name}")
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)


def scripts(faults: Sequence[CommandFault]) -> dict[str, str]:
    """Give the script of each command that fails, by its name."""
    numbered = sorted(enumerate(faults), key=lambda pair: pair[1].command)
    found = {}
    for name, own in groupby(numbered, key=lambda pair: pair[1].command):
        cases = "".join(_case(number, fault) for number, fault in own)
        found[name] = SCRIPT.format(name=name, folder=FOLDER, cases=cases)
    return found


def _case(number: int, fault: CommandFault) -> str:
    return CASE.format(
        number=number,
        counts=COUNTS,
        contains=shlex.quote(fault.contains),
        times=fault.times,
        output=shlex.quote(fault.output),
        exit_code=fault.exit_code,
    )
