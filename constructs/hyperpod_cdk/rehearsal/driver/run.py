"""The course of a rehearsal."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from hyperpod_cdk.rehearsal import hyperpod
from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from hyperpod_cdk.rehearsal.driver import checks
from hyperpod_cdk.rehearsal.driver.leftovers import Inventory, inventory, leftovers
from hyperpod_cdk.rehearsal.driver.nodes import RealNodes
from hyperpod_cdk.rehearsal.driver.outcome import RehearsalError, Stage
from hyperpod_cdk.rehearsal.driver.show import show_cluster, show_leftovers
from hyperpod_cdk.rehearsal.driver.standins import provide, provide_scripts
from hyperpod_cdk.rehearsal.driver.toolkit import Toolkit
from hyperpod_cdk.rehearsal.driver.variants import Variant, Variants
from hyperpod_cdk.rehearsal.hyperpod.aws import Account
from hyperpod_cdk.rehearsal.node import CommandFault

SPEED = 240.0
"""How much faster than real time clusters, state machines and custom resources live."""
SETUP_THREADS = 4
"""Nodes that run their scripts at a time."""
DEFAULT_REGION = "us-west-2"
FAULTS = {
    # an upgrade that runs by itself holds the packages' lock: every mode's scripts meet it
    "lifecycle": CommandFault(
        command="apt-mark",
        contains="hold",
        exit_code=100,
        output=(
            "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 4242 (unattended-upgr)"
        ),
    ),
}
"""What `fault` may name, and the command that then fails on every node."""
LOGS = Path(".rehearsal")
"""Where the CDK CLI's output is kept until the next rehearsal."""
CLUSTER_TYPES = ("Custom::HyperPodCluster", "AWS::SageMaker::Cluster")


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """A rehearsal under way.

    Args:
        aws: the embedded AWS.
        toolkit: the CDK CLI.
        variants: the configurations to deploy.
        stage: where it is told how things go.
    """

    aws: EmbeddedAws
    toolkit: Toolkit
    variants: Variants
    stage: Stage

    def play(self, *, keep: bool) -> None:
        """Deploy, show, change and destroy.

        Args:
            keep: stop after the deployment, and serve until Ctrl-C.

        Raises:
            RehearsalError: something was not as it should be.
        """
        before = self._bootstrap()
        variant = self.variants.first
        with self.stage.act(f"deploy {variant.path}"):
            self.toolkit.deploy(variant.path)
            cluster = self._expect(variant)
        stack = self.aws.cloudformation.find(str(variant.spec.stack_name))
        file_systems = self.aws.client("fsx").describe_file_systems()["FileSystems"]
        show_cluster(self.stage.console, cluster, file_systems=file_systems, stack=stack)
        if keep:
            self._serve(variant)
            return
        for changed in self.variants.changes():
            with self.stage.act(changed.title):
                provide_scripts(changed.spec, self._account)
                self.toolkit.deploy(changed.path)
                previous, cluster, variant = cluster, self._expect(changed), changed
        added = self.variants.added_script
        uri = checks.expect_new_scripts(self.aws.client, previous, cluster, added=added)
        self.stage.say(f"all groups point at {uri}; the former scripts are still there")
        with self.stage.act("destroy"):
            self.toolkit.destroy()
        self._expect_nothing_left(before, variant)
        self._expect_no_failures()

    def play_fault(self, fault: str) -> None:
        """Deploy with nodes whose set-up fails, and show what a user sees.

        Args:
            fault: one of :data:`FAULTS`.

        Raises:
            RehearsalError: the deployment did not fail as it should.
        """
        before = self._bootstrap()
        variant = self.variants.first
        with self.stage.act(f"deploy {variant.path}, with {FAULTS[fault].command} failing on every node"):
            if self.toolkit.deploy(variant.path, may_fail=True):
                raise RehearsalError("the deployment succeeded, though the nodes' set-up was made to fail")
        reasons = [e.ResourceStatusReason for e in self.aws.failures() if e.ResourceType in CLUSTER_TYPES]
        if not reasons:
            raise RehearsalError("the deployment failed, but not for the cluster: see its log")
        reason = str(reasons[0])
        self.stage.console.print()
        self.stage.say("what the user sees, as the reason of the failed resource:", style="bold")
        self.stage.console.print(reason, markup=False, highlight=False, soft_wrap=True)
        told = [line for line in reason.splitlines() if FAULTS[fault].output in line]
        if not told:
            raise RehearsalError(f"the reason does not say what the script met: {FAULTS[fault].output}")
        self.stage.say(f"in one line: {told[-1]}", style="bold")
        stack = self.aws.cloudformation.find(str(variant.spec.stack_name))
        if stack.status != "ROLLBACK_COMPLETE":
            raise RehearsalError(f"the stack is {stack.status}, not ROLLBACK_COMPLETE: {stack.status_reason}")
        self._expect_nothing_left(before, variant)

    @property
    def _account(self) -> Account:
        return Account(self.aws.account_id, self.aws.region)

    # -- the acts --------------------------------------------------------------------------------------

    def _bootstrap(self) -> Inventory:
        with self.stage.act(f"cdk bootstrap aws://{self.aws.account_id}/{self.aws.region}"):
            self.toolkit.bootstrap(self.aws.account_id, self.aws.region)
            for item in provide(self.variants.first.spec, self._account):
                self.stage.say(f"stands in for yours: {item}", style="dim")
        return inventory(self.aws.client)

    def _expect(self, variant: Variant) -> checks.ClusterView:
        stack = self.aws.cloudformation.find(str(variant.spec.stack_name))
        names = [r.physical_id for r in stack.resources.values() if r.type in CLUSTER_TYPES]
        if len(names) != 1:
            raise RehearsalError(f"stack {stack.name} has {len(names)} clusters, not one")
        cluster = checks.expect_cluster(self.aws.client, variant, names[0])
        nodes = ", ".join(f"{group} {count}" for group, count in sorted(cluster.running.items()))
        self.stage.say(f"as asked for: {nodes}")
        return cluster

    def _expect_nothing_left(self, before: Inventory, variant: Variant) -> None:
        name = str(variant.spec.stack_name)
        stack = [s for s in self.aws.cloudformation.stacks() if s.name == name][-1]
        left = leftovers(before, inventory(self.aws.client), stack)
        show_leftovers(self.stage.console, left)
        unknown = [f"{item.kind} {item.name}" for item in left if not item.reason]
        if unknown:
            raise RehearsalError(f"left behind, and not on purpose: {', '.join(unknown)}")

    def _expect_no_failures(self) -> None:
        failed = [f"{e.LogicalResourceId}: {e.ResourceStatusReason}" for e in self.aws.failures()]
        failed += self.aws.unanswered()
        if failed:
            raise RehearsalError("the embedded AWS noted failures:\n" + "\n".join(failed))

    def _serve(self, variant: Variant) -> None:
        name, region = variant.spec.cluster.cluster_name or "NAME", self.aws.region
        common = f"--endpoint-url {self.aws.endpoint} --region {region}"
        lines = (
            f"serving at {self.aws.endpoint} until Ctrl-C; in another shell, for instance:",
            "  export AWS_ACCESS_KEY_ID=rehearsal AWS_SECRET_ACCESS_KEY=rehearsal",
            f"  aws sagemaker describe-cluster --cluster-name {name} {common}",
            f"  aws sagemaker list-cluster-nodes --cluster-name {name} {common}",
            f"  aws cloudformation describe-stacks {common}",
        )
        self.stage.console.print()
        for line in lines:
            self.stage.console.print(line, markup=False, highlight=False, soft_wrap=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
        self.stage.say("stopped")


@contextmanager
def prepared(config: Path, *, fault: str | None, stage: Stage) -> Iterator[Rehearsal]:
    """Start an embedded AWS in which a configuration can be rehearsed.

    Args:
        config: the YAML file.
        fault: one of :data:`FAULTS`; None for nodes that come up.
        stage: where it is told how things go.
    """
    with TemporaryDirectory(prefix="hyperpod-rehearsal-") as name:
        folder = Path(name)
        for part in ("cdk", "variants", "nodes"):
            (folder / part).mkdir()
        variants = Variants(config, folder / "variants")
        region = variants.first.spec.region or DEFAULT_REGION
        with EmbeddedAws(region=region, speed=SPEED, extensions=[hyperpod.install]) as aws:
            service = hyperpod.service(aws.account_id, region)
            service.clock.speed = SPEED
            service.setup_threads = SETUP_THREADS
            faults = [FAULTS[fault]] if fault else []
            service.node_setup = RealNodes(aws.client("s3"), folder / "nodes", faults=faults)
            toolkit = Toolkit(
                environment=aws.environment(), folder=folder / "cdk", logs=_fresh(LOGS), stage=stage
            )
            try:
                yield Rehearsal(aws=aws, toolkit=toolkit, variants=variants, stage=stage)
            finally:
                service.close()


def _fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def run(config: Path, *, keep: bool, fault: str | None) -> int:
    """Rehearse a configuration; see :func:`hyperpod_cdk.rehearsal.rehearse`."""
    stage = Stage()
    try:
        with prepared(config, fault=fault, stage=stage) as rehearsal:
            if fault:
                rehearsal.play_fault(fault)
            else:
                rehearsal.play(keep=keep)
    except RehearsalError as error:
        stage.say(f"the rehearsal failed: {error}", style="bold red")
        return 1
    except KeyboardInterrupt:
        stage.say("interrupted")
        return 130
    stage.say("the rehearsal went as it should", style="bold green")
    return 0
