"""Answers the calls of a pretended machine's commands.

A command on the machine's PATH is a few lines of bash that pass the call on to this process and print the
answer: starting a Python for each call would take ten times as long.
"""

import shutil
import socketserver
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hyperpod_cdk.rehearsal.node_commands import accounting, accounts, host, packages, services, slurm
from hyperpod_cdk.rehearsal.node_commands.machine import Answer, Call, Machine

PORT_VARIABLE = "HYPERPOD_CDK_COMMANDS_PORT"
COMMANDS: dict[str, Callable[[Machine, Call], Answer]] = {
    "curl": host.curl,
    "dpkg": packages.dpkg,
    "dpkg-query": packages.dpkg_query,
    "getent": host.getent,
    "groupadd": accounts.groupadd,
    "ip": host.ip,
    "lnetctl": host.lnetctl,
    "mariadb": services.mariadb,
    "modinfo": host.modinfo,
    "mount": host.mount,
    "munge": slurm.munge,
    "pam-auth-update": accounts.pam_auth_update,
    "sacctmgr": accounting.sacctmgr,
    "scontrol": slurm.scontrol,
    "sinfo": slurm.sinfo,
    "ssh-keygen": host.ssh_keygen,
    "systemctl": services.systemctl,
    "unmunge": slurm.unmunge,
    "useradd": accounts.useradd,
    "usermod": accounts.usermod,
}
"""Every command that node scripts may call, beside a shell and Python."""
READS_INPUT = ("dpkg", "mariadb", "unmunge")
# what the entry scripts themselves need
TOOLS = ("bash", "dirname", "rm", "stat")
CLIENT = """#!{bash}
given=
{read}exec 3<>"/dev/tcp/127.0.0.1/${{{port}}}"
printf '%s\\0' "$#" "${{0##*/}}" "$@" "$given" >&3
IFS= read -r code <&3
while IFS= read -r line <&3; do printf '%s\\n' "$line"; done
exit "$code"
"""
READ_INPUT = "IFS= read -r -d '' given || true\n"


def answer(machine: Machine, call: Call) -> Answer:
    """Note a call and answer it: with a fault if one is due, else as the command would."""
    machine.record(call)
    return machine.take_fault(call) or COMMANDS[call.command](machine, call)


def install(directory: Path) -> None:
    """Fill a directory with the commands, and with links to the few real tools that scripts need.

    Args:
        directory: to be the machine's whole PATH; made here.
    """
    directory.mkdir(parents=True)
    bash = str(shutil.which("bash"))
    for name in COMMANDS:
        script = directory / name
        read = READ_INPUT if name in READS_INPUT else ""
        script.write_text(CLIENT.format(bash=bash, port=PORT_VARIABLE, read=read))
        script.chmod(0o755)
    for name in TOOLS:
        (directory / name).symlink_to(str(shutil.which(name)))
    (directory / "python3").symlink_to(Path(sys.executable).resolve())


@contextmanager
def serving(machine: Machine) -> Iterator[int]:
    """Answer the machine's commands while the context lasts, and give the port for PORT_VARIABLE.

    Args:
        machine: what they act on.
    """

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            number, command, *rest = self._texts()
            call = Call(command=command, arguments=tuple(rest[: int(number)]), given=rest[-1])
            exit_code, output = answer(machine, call)
            self.wfile.write((f"{exit_code}\n" + (output and output + "\n")).encode())

        def _texts(self) -> list[str]:
            """The count of arguments, the command, its arguments and its input, each ended by a zero byte."""
            found = [self._text(), self._text()]
            return [*found, *(self._text() for _ in range(int(found[0]) + 1))]

        def _text(self) -> str:
            content = bytearray()
            while (byte := self.rfile.read(1)) not in (b"\0", b""):
                content += byte
            return content.decode()

    with socketserver.TCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
