"""The rehearsal of a configuration, and the acts that every rehearsal is made of."""

import shlex
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from hyperpod_cdk.rehearsal.aws.stacks.records import Event, Stack
from hyperpod_cdk.rehearsal.driver import checks, eks_checks
from hyperpod_cdk.rehearsal.driver.host_nodes import HostNodes
from hyperpod_cdk.rehearsal.driver.leftovers import Inventory, inventory, leftovers
from hyperpod_cdk.rehearsal.driver.outcome import RehearsalError, Stage
from hyperpod_cdk.rehearsal.driver.show import show_cluster, show_leftovers
from hyperpod_cdk.rehearsal.driver.standins import provide, provide_scripts
from hyperpod_cdk.rehearsal.driver.toolkit import Toolkit
from hyperpod_cdk.rehearsal.driver.variants import Variant, Variants
from hyperpod_cdk.rehearsal.hyperpod import HyperPodService
from hyperpod_cdk.rehearsal.hyperpod.aws import Account

HOSTS_PATIENCE_SECONDS = 300.0
"""For nodes that are hosts: they boot and run their scripts in real time."""
CLUSTER_TYPES = ("Custom::HyperPodCluster", "AWS::SageMaker::Cluster")


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """A rehearsal under way.

    Args:
        aws: the embedded AWS.
        toolkit: the CDK CLI.
        service: the emulated HyperPod service in it.
        variants: the configurations to deploy.
        stage: where it is told how things go.
        hosts: the nodes, where they are hosts with real daemons. Default: they are not.
    """

    aws: EmbeddedAws
    service: HyperPodService
    toolkit: Toolkit
    variants: Variants
    stage: Stage
    hosts: HostNodes | None = None

    def play(self, *, keep: bool) -> None:
        """Deploy, show, change and destroy.

        Args:
            keep: stop after the deployment, and serve until Ctrl-C.

        Raises:
            RehearsalError: something was not as it should be.
        """
        self.bootstrap()
        before = inventory(self.aws.client)
        variant = self.variants.first
        with self.stage.act(f"deploy {variant.path}"):
            self.toolkit.deploy(variant.path)
            cluster = self.expect_cluster(variant)
        stack = self.stack(variant)
        self._expect_order(stack, stack.events, deleting=False)
        file_systems = self.aws.client("fsx").describe_file_systems()["FileSystems"]
        show_cluster(self.stage.console, cluster, file_systems=file_systems, stack=stack)
        self._try_out(variant)
        if keep:
            self._serve(cluster, variant)
            return
        self._deploy_unchanged(variant, cluster)
        for changed in self.variants.changes():
            with self.stage.act(changed.title):
                provide_scripts(changed.spec, self._account)
                self.toolkit.deploy(changed.path)
                previous, cluster, variant = cluster, self.expect_cluster(changed), changed
            self._try_out(variant)
        added = self.variants.added_script
        uri = checks.expect_new_scripts(self.aws.client, previous, cluster, added=added)
        told = f"all groups point at {uri}; the former scripts are still there"
        self.stage.say(told if uri else "no group runs scripts")
        stack, known = self.stack(variant), len(self.stack(variant).events)
        with self.stage.act("destroy"):
            self.toolkit.destroy()
        self._expect_order(stack, stack.events[known:], deleting=True)
        self.expect_nothing_left(before, variant)
        self.expect_no_failures()

    def _try_out(self, variant: Variant) -> None:
        """Where nodes are hosts: open a shell by the stack's own command, and run a job on all of them."""
        if self.hosts is None:
            return
        self.hosts.settle(self._cluster_name(variant))
        commands = [o["OutputValue"] for o in self.stack(variant).outputs if o["OutputKey"] == "Connect"]
        if not commands:
            raise RehearsalError("the stack has no command that opens a shell on the controller")
        with self.stage.act(commands[0]):
            for line in self.hosts.try_out(commands[0]):
                self.stage.console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)

    def _cluster_name(self, variant: Variant) -> str:
        stack = self.stack(variant)
        names = [r.physical_id for r in stack.resources.values() if r.type in CLUSTER_TYPES]
        if len(names) != 1:
            raise RehearsalError(f"stack {stack.name} has {len(names)} clusters, not one")
        return str(names[0])

    @property
    def _account(self) -> Account:
        return Account(self.aws.account_id, self.aws.region)

    # -- the acts --------------------------------------------------------------------------------------

    def bootstrap(self) -> None:
        """Prepare the account: CDK's own stack, and what the configuration takes for granted."""
        with self.stage.act(f"cdk bootstrap aws://{self.aws.account_id}/{self.aws.region}"):
            self.toolkit.bootstrap(self.aws.account_id, self.aws.region)
            for item in provide(self.variants.first.spec, self._account):
                self.stage.say(f"stands in for yours: {item}", style="dim")

    def stack(self, variant: Variant) -> Stack:
        """Give a configuration's stack, also when it is deleted."""
        name = variant.spec.stack_name
        return [stack for stack in self.aws.cloudformation.stacks() if stack.name == name][-1]

    def expect_cluster(self, variant: Variant) -> checks.ClusterView:
        """Require that the stack's cluster is what a configuration asks for; see :mod:`.checks`."""
        patience = HOSTS_PATIENCE_SECONDS if self.hosts else checks.PATIENCE_SECONDS
        name = self._cluster_name(variant)
        cluster = checks.expect_cluster(self.aws.client, variant, name, patience=patience)
        nodes = ", ".join(f"{group} {count}" for group, count in sorted(cluster.running.items()))
        self.stage.say(f"as asked for: {nodes}")
        plane = eks_checks.control_plane(self._account.eks, cluster.description)
        if plane is not None:
            self.stage.say(eks_checks.expect_platform(self._account.eks, plane, cluster.running))
        return cluster

    def _deploy_unchanged(self, variant: Variant, cluster: checks.ClusterView) -> None:
        """On Amazon EKS: deploy the same again, and require that nothing is asked of anybody."""
        plane = eks_checks.control_plane(self._account.eks, cluster.description)
        if plane is None:
            return
        before = (len(self.stack(variant).events), len(plane.api.requests))
        with self.stage.act("deploy the same again"):
            self.toolkit.deploy(variant.path)
        after = (len(self.stack(variant).events), len(plane.api.requests))
        if after != before:
            raise RehearsalError(
                f"events and requests to Kubernetes were {before}, are {after}: not the same"
            )
        self.stage.say("no resource and nothing in Kubernetes was touched")

    def _expect_order(self, stack: Stack, events: Sequence[Event], *, deleting: bool) -> None:
        pairs = eks_checks.expect_order(stack, events, deleting=deleting)
        if pairs:
            self.stage.say(f"{pairs} pairs of resources came in the order in which they need one another")

    def expect_nothing_left(self, before: Inventory, variant: Variant) -> None:
        """Show what is left of a stack, and require that it was left on purpose.

        Args:
            before: what the account held before the stack.
            variant: a configuration of the stack.
        """
        left = leftovers(before, inventory(self.aws.client), self.stack(variant))
        show_leftovers(self.stage.console, left)
        unknown = [f"{item.kind} {item.name}" for item in left if not item.reason]
        if unknown:
            raise RehearsalError(f"left behind, and not on purpose: {', '.join(unknown)}")

    def expect_no_failures(self) -> None:
        """Require that nothing has failed so far, and that the embedded AWS could answer every request."""
        failed = [f"{e.LogicalResourceId}: {e.ResourceStatusReason}" for e in self.aws.failures()]
        failed += self.aws.unanswered()
        if failed:
            raise RehearsalError("the embedded AWS noted failures:\n" + "\n".join(failed))

    def _session_lines(self, variant: Variant) -> tuple[str, ...]:
        if self.hosts is None:
            return ()
        commands = [o["OutputValue"] for o in self.stack(variant).outputs if o["OutputKey"] == "Connect"]
        look = f"hyperpod-cdk check-node --cluster {self._cluster_name(variant)} --region {self.aws.region}"
        return (
            "and for a shell on the controller, and a look at every node, as root on this machine:",
            f"  export PATH={self.hosts.command_folder}:$PATH",
            *(f"  {command}" for command in commands),
            f"  AWS_ENDPOINT_URL={self.aws.endpoint} {look}",
        )

    def _kubernetes_lines(self, cluster: checks.ClusterView) -> tuple[str, ...]:
        plane = eks_checks.control_plane(self._account.eks, cluster.description)
        if plane is None:
            return ()
        path = (self.toolkit.logs / "kubeconfig").resolve()
        path.touch(mode=0o600)
        path.write_text(self.aws.kubeconfig(plane), encoding="utf-8")
        return (
            "and for Kubernetes, as somebody inside the VPC who may do everything:",
            f"  export KUBECONFIG={shlex.quote(str(path))}",
            "  kubectl get nodes --show-labels",
            "  kubectl get daemonsets,deployments --all-namespaces",
        )

    def _serve(self, cluster: checks.ClusterView, variant: Variant) -> None:
        name, region = cluster.description["ClusterName"], self.aws.region
        common = f"--endpoint-url {self.aws.endpoint} --region {region}"
        lines = (
            f"serving at {self.aws.endpoint} until Ctrl-C; in another shell, for instance:",
            "  export AWS_ACCESS_KEY_ID=rehearsal AWS_SECRET_ACCESS_KEY=rehearsal",
            f"  aws sagemaker describe-cluster --cluster-name {name} {common}",
            f"  aws sagemaker list-cluster-nodes --cluster-name {name} {common}",
            f"  aws cloudformation describe-stacks {common}",
            *self._session_lines(variant),
            *self._kubernetes_lines(cluster),
        )
        self.stage.console.print()
        for line in lines:
            self.stage.console.print(line, markup=False, highlight=False, soft_wrap=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
        self.stage.say("stopped: taking everything down")
