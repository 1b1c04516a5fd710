"""Emulated nodes that are hosts: each fetches its scripts from the embedded S3, and really joins Slurm."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from hyperpod_cdk.rehearsal.driver.outcome import RehearsalError
from hyperpod_cdk.rehearsal.hosts.command_faults import spoil
from hyperpod_cdk.rehearsal.hosts.forwarding import forwarded
from hyperpod_cdk.rehearsal.hosts.host import Host, HostError
from hyperpod_cdk.rehearsal.hosts.image import STANDINS
from hyperpod_cdk.rehearsal.hosts.sandbox import AGENT, Sandbox
from hyperpod_cdk.rehearsal.hosts.service_plan import ServicePlan
from hyperpod_cdk.rehearsal.hyperpod import HyperPodService, NodeSetup, NodeSetupResult, find_script
from hyperpod_cdk.rehearsal.hyperpod.node_setup import resource_config
from hyperpod_cdk.rehearsal.hyperpod.scripts import join
from hyperpod_cdk.rehearsal.node_commands.machine import CommandFault

PROVISIONING_PARAMETERS = "provisioning_parameters.json"
CHECK_NODE = "hyperpod-check-node"
SESSION_SECONDS = 120
JOIN_SECONDS = 90.0
TIME_SCALE = "HYPERPOD_CDK_TIME_SCALE"
FAULTY_TIME_SCALE = "0.05"
"""Where commands fail, the scripts wait this much shorter for what will not come: dpkg's lock for 15 s."""


class HostNodes:
    """Sets nodes up on hosts, one host a node; a context manager.

    One cluster at a time: hosts of several would be on one network.

    Args:
        aws: the embedded AWS that they live in.
        service: its HyperPod.
        logs: folder that gets a file a node, with what its scripts printed.
        faults: commands that fail on every node. Default: none.
    """

    def __init__(
        self,
        aws: EmbeddedAws,
        service: HyperPodService,
        *,
        logs: Path,
        faults: Sequence[CommandFault] = (),
    ) -> None:
        self._logs = logs
        self._faults = tuple(faults)
        self._aws = aws
        self._service = service
        self._plan = ServicePlan()
        self._sandbox = Sandbox(self._plan)
        self._instances: dict[str, str] = {}
        self._lock = Lock()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.enter_context(self._sandbox)
        endpoint = urlsplit(self._aws.endpoint)
        assert endpoint.hostname is not None
        assert endpoint.port is not None
        socket = self._sandbox.shared / "aws.sock"
        self._stack.enter_context(forwarded(socket, host=endpoint.hostname, port=endpoint.port))
        (self._sandbox.room.folder / "instances").mkdir()
        self._install_command()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    # -- nodes -----------------------------------------------------------------------------------------

    def __call__(self, node: NodeSetup) -> NodeSetupResult:
        """Set a node up.

        Args:
            node: which, and what it runs.
        """
        missing = find_script(node)
        if missing.exit_code:
            return missing
        result = self._set_up(node)
        log = self._logs / f"{node.group_name}-{node.number}.{node.instance_id}.log"
        log.write_text("".join(f"{line}\n" for line in result.log_lines), encoding="utf-8")
        return result

    def _set_up(self, node: NodeSetup) -> NodeSetupResult:
        try:
            with self._lock:
                host = self._host(node)
            host.wait()
            spoil(host, self._faults)
            self._note(node.instance_id, host)
            with self._lock:
                # what was announced while it booted
                host.run(AGENT, "refresh")
            return self._run(node, host)
        except HostError as error:
            return NodeSetupResult(exit_code=1, log_lines=tuple(str(error).splitlines()))

    def _host(self, node: NodeSetup) -> Host:
        """The node's host, switched on; the agents of the others learn of it."""
        name = f"{node.group_name}-{node.number}"
        if self._instances.get(name) == node.instance_id and name in self._sandbox.hosts:
            return self._sandbox.hosts[name]
        self._follow(node.cluster_name, node.source_s3_uri)
        if name in self._sandbox.hosts:
            self._sandbox.drop(name)
        self._instances[name] = node.instance_id
        return self._sandbox.begin(name)

    def _follow(self, cluster_name: str, source_s3_uri: str) -> None:
        """Bring plan and hosts to what the service knows of a cluster; without it, to nothing."""
        cluster = self._service.clusters.get(cluster_name)
        if cluster is not None:
            file_systems = self._aws.client("fsx").describe_file_systems()["FileSystems"]
            legacy = self._legacy(source_s3_uri)
            told = resource_config(cluster)
            self._plan.learn(cluster.request(), told, file_systems=file_systems, legacy=legacy)
        known = self._plan.nodes() if cluster is not None else {}
        for name in [name for name in self._sandbox.hosts if name not in known]:
            self._sandbox.drop(name)
        self._sandbox.prepare_file_systems()
        self._sandbox.announce()

    def _legacy(self, source_s3_uri: str) -> Mapping[str, Any] | None:
        bucket, key = join(source_s3_uri, PROVISIONING_PARAMETERS)
        s3 = self._aws.client("s3")
        if s3.list_objects_v2(Bucket=bucket, Prefix=key).get("KeyCount", 0) == 0:
            return None
        found: dict[str, Any] = json.loads(s3.get_object(Bucket=bucket, Key=key)["Body"].read())
        return found

    def _run(self, node: NodeSetup, host: Host) -> NodeSetupResult:
        self._sandbox.await_agent(host)
        folder = self._sandbox.download(host, node.source_s3_uri.rstrip("/") + "/")
        env = {TIME_SCALE: FAULTY_TIME_SCALE} if self._faults else {}
        run = self._sandbox.start_script(host, folder, script=node.script, env=env)
        if (
            run.exit_code == 0
            and self._plan.group_of(f"{node.group_name}-{node.number}").node_type == "Compute"
        ):
            self._sandbox.joined(host, JOIN_SECONDS)
        return NodeSetupResult(exit_code=run.exit_code, log_lines=run.lines)

    def _note(self, instance_id: str, host: Host) -> None:
        path = self._sandbox.room.folder / "instances" / instance_id
        path.write_text(str(host.init), encoding="utf-8")

    # -- what a person does with them ------------------------------------------------------------------

    @property
    def command_folder(self) -> str:
        """A folder whose ``aws`` and its plugin open sessions on hosts; to be put first on PATH."""
        return str(self._sandbox.room.folder / "bin")

    def _install_command(self) -> None:
        folder = self._sandbox.room.folder / "bin"
        folder.mkdir()
        for name in ("aws", "session-manager-plugin"):
            (folder / name).write_bytes((STANDINS / "session.sh").read_bytes())
            (folder / name).chmod(0o755)

    def settle(self, cluster_name: str) -> None:
        """Bring the hosts to what the service has now: those of nodes that are gone go too."""
        with self._lock:
            cluster = self._service.clusters.get(cluster_name)
            groups = cluster.groups.values() if cluster else ()
            uris = [
                group.spec["LifeCycleConfig"]["SourceS3Uri"]
                for group in groups
                if group.spec.get("LifeCycleConfig")
            ]
            self._follow(cluster_name, uris[0] if uris else "s3://none/none")

    def try_out(self, connect: str) -> list[str]:
        """Open a shell on the controller by the stack's own command, run a job on all nodes, look at them.

        Args:
            connect: the command.

        Returns:
            What the shell showed, each command before its output, and what the look came to.

        Raises:
            RehearsalError: the job did not run on every compute node, or a node is not well.
        """
        wanted = sorted(host.name for host in self._sandbox.compute)
        self._sandbox.idle(len(wanted))
        path = f"{self.command_folder}:{os.environ['PATH']}"
        job = f"srun --nodes={len(wanted)} hostname"
        done = subprocess.run(
            ["bash", "-c", connect],
            input=f"{job} </dev/null\nsinfo\n",
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": path},
            timeout=SESSION_SECONDS,
            check=False,
        )
        lines = done.stdout.splitlines()
        if sorted(lines[: len(wanted)]) != wanted:
            raise RehearsalError(f"srun on {', '.join(wanted)} gave:\n{done.stdout}{done.stderr}")
        return [f"$ {job}", *lines[: len(wanted)], "$ sinfo", *lines[len(wanted) :], self._look()]

    def _look(self) -> str:
        """Have every node look at itself; in one line what that came to."""
        hosts = list(self._sandbox.hosts.values())
        with ThreadPoolExecutor(len(hosts)) as threads:
            answers = list(threads.map(lambda host: host.run(CHECK_NODE, check=False), hosts))
        for host, answer in zip(hosts, answers, strict=True):
            if answer.exit_code:
                raise RehearsalError(f"{CHECK_NODE} on {host.name} says:\n{answer.output}")
        return f"{CHECK_NODE} finds {len(hosts)} nodes well"
