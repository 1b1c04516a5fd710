"""A Slurm cluster of HyperPod's shape on one machine: hosts, the stand-ins round them, and their scripts."""

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from hyperpod_cdk.rehearsal.hosts.file_server import serve
from hyperpod_cdk.rehearsal.hosts.host import Answer, Host, HostError
from hyperpod_cdk.rehearsal.hosts.image import RECIPES, STANDINS, image
from hyperpod_cdk.rehearsal.hosts.layer import compose
from hyperpod_cdk.rehearsal.hosts.plan import Group, Plan
from hyperpod_cdk.rehearsal.hosts.requirements import require
from hyperpod_cdk.rehearsal.hosts.room import Room

RESULT = "/opt/ml/config/hyperpod-cdk/result.json"
AGENT = "/usr/local/lib/hyperpod-sandbox/agent.py"
BUCKET = "sagemaker-lifecycle"
PARALLEL = 64
SCRIPT_SECONDS = 900.0


@dataclass(frozen=True, kw_only=True)
class ScriptRun:
    """How a lifecycle script ended on a node.

    Args:
        host: the node's host name.
        exit_code: 0 is success.
        lines: what it printed.
        seconds: from its start to its end.
        cpu_seconds: processor time of the host meanwhile, daemons that were started among it.
        result: content of result.json; empty when there is none.
    """

    host: str
    exit_code: int
    lines: tuple[str, ...]
    seconds: float
    cpu_seconds: float = 0.0
    result: Mapping[str, Any] = field(default_factory=dict)

    @property
    def output(self) -> str:
        """What it printed, as one text."""
        return "\n".join(self.lines)

    def step(self, name: str) -> Mapping[str, Any]:
        """What result.json says of a step.

        Raises:
            LookupError: it has no such step.
        """
        for step in self.result.get("steps", []):
            if step["name"] == name:
                return dict(step)
        raise LookupError(f"{self.host}: no step {name} in {RESULT}")


class Sandbox:
    """A cluster's hosts, and everything round them; use it as a context manager.

    Args:
        plan: groups, file systems, lifecycle mode and config.json.
        slurm: version of Slurm, ``22.05`` or ``24.11``.
    """

    def __init__(self, plan: Plan, *, slurm: str = "22.05") -> None:
        self.plan = plan
        self.room = Room()
        self.hosts: dict[str, Host] = {}
        """By the node's name, ``<group>-<number>``."""
        self._recipe = RECIPES[slurm]
        self._layers: tuple[Path, ...] = ()
        self._stack = ExitStack()
        self._prefix = ""
        self._served: dict[str, bool] = {}
        self._told = ""
        self._control: dict[str, Any] = {}

    # -- coming and going ------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        require()
        root = image(self._recipe)
        self._stack.enter_context(self.room)
        try:
            self._layers = (compose(self.room.folder / "layer", root), root)
            for name in ("up", "fs", "s3", "mirror"):
                (self.shared / name).mkdir()
            self._write("secrets.json", {})
            self._write("control.json", {})
            self._tell()
            if self.plan.groups:
                self.stage()
            self._serve()
            self.prepare_file_systems()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def shared(self) -> Path:
        """What every host sees as ``/.sandbox``."""
        return self.room.shared

    def _serve(self) -> None:
        command = ["python3", "-I", str(STANDINS / "services.py"), str(self.shared)]
        server = self.room.start(*self.room.command(*command), log=self.room.folder / "services.log")
        deadline = time.monotonic() + 20
        while not (self.shared / "serving").exists():
            if server.poll() is not None or time.monotonic() > deadline:
                raise HostError((self.room.folder / "services.log").read_text(encoding="utf-8"))
            time.sleep(0.02)

    def prepare_file_systems(self) -> None:
        """Make the folders that stand for the plan's file systems, and serve those of OpenZFS by NFS."""
        for mount in self.plan.file_systems:
            folder = Path("fs") / self.plan.source(mount)
            (self.shared / folder).mkdir(parents=True, exist_ok=True)
            name = mount["dns_name"]
            if mount["file_system_type"] == "OPENZFS" and name not in self._served:
                host = self.server(f"nfs-{len(self._served) + 1}", self.plan.names[name])
                export = mount.get("export_path", "/fsx")
                self._served[name] = serve(host, Path("/.sandbox") / folder, export=export)
        self.control(nfs_servers=self._served)

    def stage(self) -> None:
        """Put the scripts, config.json and the user's files where a deployment of the bucket puts them."""
        self._prefix = f"lifecycle/{secrets.token_hex(8)}"
        folder = self.shared / "s3" / BUCKET / self._prefix
        for path, content in self.plan.content().items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    # -- what the stand-ins are told -------------------------------------------------------------------

    def control(self, **services: Mapping[str, Any]) -> None:
        """Set what goes wrong; see ``control.json`` in the stand-ins.

        Args:
            services: by service, for instance ``dns={"answers_from": time.time() + 5}``; ``{}`` is well.
        """
        self._control |= {name: {**rule, "id": secrets.token_hex(4)} for name, rule in services.items()}
        self._write("control.json", self._control)

    def secret(self, name: str, value: str) -> None:
        """Keep a secret where Secrets Manager's stand-in finds it."""
        known = json.loads((self.shared / "secrets.json").read_text(encoding="utf-8"))
        self._write("secrets.json", {**known, name: value})

    def name(self, name: str, address: str) -> None:
        """Let a name resolve to an address."""
        self.plan.names[name] = address
        self._write("names.json", self.plan.names)

    def _tell(self) -> None:
        self._told = json.dumps([self.plan.told(), self.plan.names])
        self._write("cluster.json", self.plan.told())
        self._write("hosts.json", self.plan.metadata())
        self._write("names.json", self.plan.names)

    def _write(self, name: str, content: Mapping[str, Any]) -> None:
        draft = self.shared / f".{name}"
        draft.write_text(json.dumps(content, indent=1), encoding="utf-8")
        draft.replace(self.shared / name)

    # -- hosts -----------------------------------------------------------------------------------------

    @property
    def controller(self) -> Host:
        """The controller."""
        return self.of_type("Controller")[0]

    @property
    def login(self) -> Host:
        """The login node."""
        return self.of_type("Login")[0]

    @property
    def compute(self) -> list[Host]:
        """The compute nodes that are up."""
        return self.of_type("Compute")

    def of_type(self, node_type: str) -> list[Host]:
        """The hosts of a node type, in the order of their numbers."""
        return [host for name, host in self.hosts.items() if self.plan.group_of(name).node_type == node_type]

    def up(self, *groups: str, disk: str | None = None) -> list[Host]:
        """Switch on every node that is planned and not up yet, and wait for all of them.

        Args:
            groups: only of these; default: all.
            disk: size of their roots.
        """
        wanted = [name for name in self.plan.nodes() if name not in self.hosts]
        made = [
            self.begin(name, disk) for name in wanted if not groups or self.plan.group_of(name).name in groups
        ]
        for host in made:
            host.wait()
        return made

    def start(self, name: str, *, disk: str | None = None) -> Host:
        """Switch one planned node on, and wait for it.

        Args:
            name: ``<group>-<number>``.
            disk: size of its root.
        """
        host = self.begin(name, disk)
        host.wait()
        return host

    def begin(self, name: str, disk: str | None = None) -> Host:
        """Switch one planned node on; its :meth:`Host.wait` waits for it."""
        entry = self.plan.nodes()[name]
        addresses = [entry["CustomerIpAddress"], entry["AgentIpAddress"]]
        size = {"disk": disk} if disk else {}
        host = Host(self.room, self.plan.host_name(entry), addresses=addresses, layers=self._layers, **size)
        host.start()
        self.hosts[name] = host
        return host

    def server(self, name: str, address: str) -> Host:
        """A host beside the cluster, for instance a database; up when this returns."""
        host = Host(self.room, name, addresses=[address], layers=self._layers)
        host.start()
        host.wait()
        return host

    def grow(self, group: str, count: int) -> list[Host]:
        """Add nodes to a group, as a scale-up does; their scripts have not run yet.

        Args:
            group: its name.
            count: how many more.
        """
        self.plan.add(group, count)
        self.announce()
        return self.up(group)

    def lose(self, name: str, *, replace: bool = False) -> None:
        """Lose a node with its disk, and let the others know.

        Args:
            name: ``<group>-<number>``.
            replace: whether the plan gets a new instance for it, with the same number; :meth:`up` starts it.
        """
        self.drop(name)
        if replace:
            self.plan.replace(name)
        else:
            self.plan.remove(name)
        self.announce()

    def drop(self, name: str) -> None:
        """End a node's host; the plan stays."""
        self.hosts.pop(name).kill()

    def announce(self) -> None:
        """Tell the stand-ins, and the agents of all hosts, what the plan is now."""
        told = json.dumps([self.plan.told(), self.plan.names])
        if told == self._told:
            return
        self._tell()
        # those that are not up yet read it when they boot
        running = [host for host in self.hosts.values() if host.init]
        with ThreadPoolExecutor(PARALLEL) as pool:
            list(pool.map(lambda host: host.run(AGENT, "refresh"), running))

    # -- scripts ---------------------------------------------------------------------------------------

    def provision(
        self, hosts: Sequence[Host] | None = None, *, env: Mapping[str, str] | None = None, check: bool = True
    ) -> dict[str, ScriptRun]:
        """Run the lifecycle scripts on hosts, as the service's agents do: all at once, when all have them.

        Args:
            hosts: on which; default: all.
            env: on top of the scripts' environment.
            check: whether a failing script is an error.

        Returns:
            How it went, by the host's name.

        Raises:
            HostError: a script failed, and ``check`` is true.
        """
        chosen = list(self.hosts.values()) if hosts is None else list(hosts)
        with ThreadPoolExecutor(PARALLEL) as pool:
            folders = list(pool.map(self.fetch_script, chosen))
            runs = list(pool.map(partial(self.start_script, env=env), chosen, folders))
        failed = [run for run in runs if run.exit_code]
        if failed and check:
            texts = [
                f"{run.host}: exit code {run.exit_code}\n" + "\n".join(run.lines[-40:]) for run in failed[:3]
            ]
            raise HostError(f"{len(failed)} of {len(runs)} scripts failed\n" + "\n\n".join(texts))
        return {run.host: run for run in runs}

    def run_script(self, host: Host, *, env: Mapping[str, str] | None = None) -> ScriptRun:
        """Download the deployment to a host and run its entry script there; see :meth:`provision`."""
        return self.start_script(host, self.fetch_script(host), env=env)

    def fetch_script(self, host: Host) -> str:
        """Wait until the service would start the scripts on a host, and download them; their folder there."""
        self.await_agent(host)
        return self.download(host)

    def download(self, host: Host, uri: str = "") -> str:
        """Let a host fetch a deployment from S3, the latest unless told; the folder it lies in there."""
        folder = f"/tmp/sagemaker-lifecycle-{secrets.token_hex(4)}/src"
        host.run("aws", "s3", "cp", "--recursive", uri or f"s3://{BUCKET}/{self._prefix}/", folder)
        return folder

    def start_script(
        self, host: Host, folder: str, *, env: Mapping[str, str] | None = None, script: str = ""
    ) -> ScriptRun:
        """Run the entry script of a folder on a host; the plan's unless told."""
        # no HOME: the service runs scripts without it
        environment = {"SAGEMAKER_RESOURCE_CONFIG_PATH": "/opt/ml/config/resource_config.json", **(env or {})}
        command = f"cd {folder} && exec bash ./{script or self.plan.script}"
        before = host.cpu_seconds()
        answer = host.run(
            "bash", "-c", command, env=environment, timeout=SCRIPT_SECONDS, check=False, counted=True
        )
        return self._described(host, answer, host.cpu_seconds() - before)

    def _described(self, host: Host, answer: Answer, cpu_seconds: float) -> ScriptRun:
        result = host.path(RESULT)
        return ScriptRun(
            host=host.name,
            exit_code=answer.exit_code,
            lines=tuple(answer.lines),
            seconds=answer.seconds,
            cpu_seconds=cpu_seconds,
            result=json.loads(result.read_text(encoding="utf-8")) if result.exists() else {},
        )

    def await_agent(self, host: Host) -> None:
        """Wait for the service's own set-up, which in extension mode comes first."""
        if self.plan.mode_of(host.name) not in ("extension", "ami"):
            return
        done = host.path("/run/sandbox-agent-done")
        deadline = time.monotonic() + 300
        while not done.exists():
            state = host.run("systemctl", "is-failed", "sagemaker-cluster-agent", check=False)
            if state.exit_code == 0 or time.monotonic() > deadline:
                journal = host.run("journalctl", "-u", "sagemaker-cluster-agent", "-n", "40", check=False)
                raise HostError(f"{host.name}: the service's own set-up failed:\n{journal.output}")
            time.sleep(0.2)

    # -- Slurm -----------------------------------------------------------------------------------------

    def idle(self, count: int | None = None, seconds: float = 60.0) -> list[str]:
        """Wait until compute nodes are idle in Slurm, and give their names.

        Args:
            count: how many; default: all that are up.
            seconds: how long at most.

        Raises:
            HostError: they are not; the text has what sinfo shows.
        """
        wanted = len(self.compute) if count is None else count
        deadline = time.monotonic() + seconds
        while True:
            answer = self.controller.run("sinfo", "-hN", "-p", "dev", "-o", "%N %T", check=False)
            states = dict(line.split() for line in answer.lines if len(line.split()) == 2)
            idle = [name for name, state in states.items() if state == "idle"]
            if len(idle) == wanted and not answer.exit_code:
                return sorted(idle)
            if time.monotonic() > deadline:
                raise HostError(f"{len(idle)} of {wanted} nodes are idle:\n{answer.output}")
            time.sleep(0.2)

    def joined(self, host: Host, seconds: float) -> None:
        """Wait until Slurm has a compute node.

        Raises:
            HostError: it has not; the text has what sinfo shows.
        """
        deadline = time.monotonic() + seconds
        while True:
            answer = self.controller.run(
                "sinfo", "-hN", "-p", "dev", "-n", host.name, "-o", "%T", check=False
            )
            if answer.exit_code == 0 and answer.output.strip() in ("idle", "mixed", "allocated"):
                return
            if time.monotonic() > deadline:
                raise HostError(f"{host.name} has not joined Slurm:\n{answer.output}")
            time.sleep(0.2)


__all__ = ["Group", "Plan", "Sandbox", "ScriptRun"]
