"""``make nodes``: a Slurm cluster of real daemons to play with, and a shell on its nodes.

``python -m hyperpod_cdk.rehearsal.hosts up`` brings one up; ``... shell [-u USER] [HOST] [COMMAND...]``, from
another terminal, opens a shell on one of its hosts.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from hyperpod_cdk.rehearsal.hosts.host import HostError, enter, login
from hyperpod_cdk.rehearsal.hosts.image import RECIPES
from hyperpod_cdk.rehearsal.hosts.plan import LUSTRE, OPENZFS, Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.requirements import CannotRunHostsError
from hyperpod_cdk.rehearsal.hosts.room import BASE
from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox
from hyperpod_cdk.rehearsal.interruptions import Interruptions

ALICE = {"name": "alice", "uid": 2001, "gid": 2001, "groups": [], "ssh_public_keys": [], "sudo": True}
WRONG_INPUT = 2


def main() -> int:
    """Run a command."""
    parser = argparse.ArgumentParser(prog="make nodes", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser(
        "up", help="bring a cluster up, and keep it until Ctrl-C or the end of the shell"
    )
    up.add_argument("--mode", default="custom", choices=["extension", "custom", "legacy"])
    up.add_argument("--compute", type=int, default=2, help="compute nodes; default 2")
    up.add_argument("--slurm", default="22.05", choices=list(RECIPES))
    up.add_argument("--openzfs", action="store_true", help="homes on OpenZFS beside Lustre")
    up.add_argument("--bare", action="store_true", help="do not run the scripts")
    up.add_argument("--config", type=Path, help="JSON file with members of config.json")
    shell = commands.add_parser("shell", help="open a shell on a host of a running cluster, or run a command")
    shell.add_argument(
        "host", nargs="?", default="", help="host name, its end, or nothing for the controller"
    )
    shell.add_argument("-u", "--user", default="root")
    shell.add_argument("rest", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if given.command == "shell":
        return _shell(given)
    interruptions = Interruptions()
    try:
        with interruptions:
            return _up(given)
    except (CannotRunHostsError, HostError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; nothing of it is left running", file=sys.stderr)
        return interruptions.exit_code


def _up(given: argparse.Namespace) -> int:
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:6.1f} s  {text}", flush=True)

    config = json.loads(given.config.read_text(encoding="utf-8")) if given.config else {}
    mounts = [LUSTRE, OPENZFS] if given.openzfs else [LUSTRE]
    groups = usual_groups(given.compute, mounts=mounts)
    plan = Plan(groups=groups, mode=given.mode, users=[ALICE], config=config)
    with Sandbox(plan, slurm=given.slurm) as sandbox:
        hosts = sandbox.up()
        say(f"{len(hosts)} hosts are up: {', '.join(host.name for host in hosts)}")
        if not given.bare:
            runs = sandbox.provision(check=False)
            for run in runs.values():
                say(f"{run.host}: exit code {run.exit_code} after {run.seconds:.1f} s")
                print("\n".join(run.lines[-30:]) if run.exit_code else "", end="")
            if not any(run.exit_code for run in runs.values()):
                say(f"{len(sandbox.idle())} nodes are idle")
        _stay(sandbox)
    say("everything is taken down")
    return 0


def _stay(sandbox: Sandbox) -> None:
    if sys.stdin.isatty():
        print("a shell on the login node as alice; the cluster goes when it ends")
        subprocess.run(enter(sandbox.login.init, *login("alice", terminal=True), "bash"), check=False)
        return
    print("kept until Ctrl-C; in another terminal: python -m hyperpod_cdk.rehearsal.hosts shell", flush=True)
    with suppress(KeyboardInterrupt):
        threading.Event().wait()


def _shell(given: argparse.Namespace) -> int:
    found = sorted(BASE.glob("*/*.pid"), key=lambda path: path.stat().st_mtime)
    chosen = [path for path in found if path.stem.endswith(given.host)]
    if not chosen:
        print(f"no such host; there are: {', '.join(path.stem for path in found) or 'none'}", file=sys.stderr)
        return WRONG_INPUT
    alone = not given.rest and sys.stdin.isatty()
    switch = login(given.user, terminal=alone) if alone or given.user != "root" else []
    command = [*switch, *(given.rest or ["bash"])]
    os.environ["PATH"] = f"/opt/slurm/bin:{os.environ['PATH']}"
    return subprocess.run(enter(int(chosen[0].read_text(encoding="utf-8")), *command), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
