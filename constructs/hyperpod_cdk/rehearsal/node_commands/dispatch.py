"""Runs one stand-in: notes the call, lets it fail if it shall, else does what the command would."""

import os
import sys
from importlib import import_module

from .machine import Machine

COMMANDS = {
    "apt-mark": "packages",
    "curl": "host",
    "dpkg-query": "packages",
    "getent": "host",
    "groupadd": "accounts",
    "ip": "host",
    "mariadb": "services",
    "mount": "host",
    "sacctmgr": "services",
    "scontrol": "services",
    "ssh-keygen": "keys",
    "systemctl": "services",
    "useradd": "accounts",
    "usermod": "accounts",
}
"""Every command that node scripts may call, beside a shell and Python, and the module that plays it."""


def main(command: str, arguments: list[str]) -> int:
    """Run a stand-in and give its exit code.

    Args:
        command: a key of COMMANDS.
        arguments: its arguments.
    """
    machine = Machine(os.environ["HYPERPOD_CDK_ROOT"])
    machine.record_call(command, arguments)
    fault = machine.take_fault(command, arguments)
    if fault:
        exit_code, output = fault
        print(output, file=sys.stderr)
        return exit_code
    # only the one module that is needed: most of a stand-in's time is importing
    module = import_module(f".{COMMANDS[command]}", __package__)
    exit_code = getattr(module, command.replace("-", "_"))(machine, arguments)
    return int(exit_code)
