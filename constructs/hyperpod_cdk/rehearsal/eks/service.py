"""The emulated Amazon EKS of one account and Region: it takes requests and gives answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Any, Protocol

from hyperpod_cdk.rehearsal.eks import entries, workloads
from hyperpod_cdk.rehearsal.eks.errors import EksError, InvalidParameterError, NotFoundError
from hyperpod_cdk.rehearsal.eks.faults import Faults
from hyperpod_cdk.rehearsal.eks.state import Cluster, Spec
from hyperpod_cdk.rehearsal.hyperpod.aws import Account
from hyperpod_cdk.rehearsal.hyperpod.clock import Clock, Timeline
from hyperpod_cdk.rehearsal.kubernetes import Target, User

Authorize = Callable[[Cluster, User, Target], bool]
Operation = Callable[["AmazonEks", Spec], Spec]
_HEX = "0123456789abcdef"


@dataclass(frozen=True, kw_only=True)
class Guest:
    """A HyperPod cluster whose orchestrator is an EKS cluster.

    Args:
        name: unique in account and Region.
        arn: its ARN.
        tags: on it.
    """

    name: str
    arn: str
    tags: Mapping[str, str]


class Tenant(Protocol):
    """Another service that uses clusters."""

    def catch_up(self) -> None:
        """Let everything happen that is due by the clock."""

    def guests(self, cluster_arn: str) -> Sequence[Guest]:
        """Give what lives in a cluster."""


@dataclass(frozen=True, kw_only=True)
class Durations:
    """Simulated seconds, as experience has them (about 9 minutes for a control plane, 2 for nodes).

    Args:
        create_cluster: until a control plane is ACTIVE.
        update_cluster: of its settings.
        upgrade_cluster: to another version of Kubernetes.
        delete_cluster: until it is gone.
        create_nodes: until a managed node group is ACTIVE.
        delete_nodes: until it is gone.
        unhealthy_nodes: until a node group is given up whose nodes get no network.
        add_on: until an add-on is installed, changed or gone.
        replicas: how long an add-on waits for a node before it is DEGRADED (20 minutes:
            github.com/pulumi/pulumi-eks/issues/1819).
    """

    create_cluster: float = 540
    update_cluster: float = 60
    upgrade_cluster: float = 600
    delete_cluster: float = 120
    create_nodes: float = 120
    delete_nodes: float = 180
    unhealthy_nodes: float = 1500
    add_on: float = 30
    replicas: float = 1200


class AmazonEks:
    """Clusters, their add-ons, nodes, access and identities.

    Before each request everything that is due by the clock happens.

    Args:
        account_id: 12 digits.
        region: such as ``us-west-2``.

    Attributes:
        clock: simulated time; stands still until it is advanced or given a speed.
        faults: what shall go wrong.
        durations: seconds for each phase; replace it to change them.
        serve: gives the endpoint and the authority's certificate (PEM) of a new cluster's API. Default: an
            address that nobody answers at.
        served: whether requests come here at all. Where they do not, nobody can make a cluster, and any
            ARN of one will do.
        authorize: tells what users of Kubernetes may do.
        clusters: by name.
        tenants: services whose nodes join clusters, or that look at them; let catch up before each request.
        caller: ARN of who asks; set before each request by whoever takes it.
    """

    def __init__(self, account_id: str, region: str) -> None:
        self.account = Account(account_id, region)
        self.clock = Clock()
        self.timeline = Timeline(self.clock)
        self.faults = Faults()
        self.durations = Durations()
        self.serve: Callable[[str], tuple[str, bytes]] = lambda name: (f"https://{name}.invalid", b"")
        self.authorize: Authorize = lambda _cluster, _user, _target: True
        self.served = False
        self.clusters: dict[str, Cluster] = {}
        self.tenants: list[Tenant] = []
        self.caller = f"arn:{self.account.partition}:iam::{account_id}:root"
        self.lock = RLock()
        self._random = random.Random(f"eks/{account_id}/{region}")

    def call(self, operation: Operation, request: Spec, *, name: str = "", caller: str = "") -> Spec:
        """Answer a request.

        Args:
            operation: what the service does.
            request: its parameters, by the names of the API.
            name: of the operation, for faults.
            caller: ARN of who asks. Default: the account itself.

        Raises:
            EksError: the answer is an error.
        """
        for tenant in self.tenants:
            # before our own lock is taken: a tenant takes its own first, then ours
            tenant.catch_up()
        with self.lock:
            self.timeline.run_due()
            error = self.faults.strike_operation(name)
            if error is not None:
                raise error
            self.caller = caller or self.caller
            return operation(self, request)

    def catch_up(self) -> None:
        """Let everything happen that is due by the clock, at the tenants' first."""
        for tenant in self.tenants:
            tenant.catch_up()
        self.advance()

    def advance(self) -> None:
        """Let everything happen here that is due by the clock."""
        with self.lock:
            self.timeline.run_due()

    # -- for tenants -----------------------------------------------------------------------------------

    def admit(self, cluster: Cluster, principal: str, *, type_: str = "STANDARD", policy: str = "") -> None:
        """Add an access entry on behalf of a service; one that is there stays.

        Args:
            cluster: whose entry.
            principal: ARN.
            type_: such as ``EC2_LINUX``.
            policy: name of a policy for the whole cluster. Default: none.
        """
        if principal not in cluster.entries:
            request = {"principalArn": principal, "type": type_}
            cluster.entries[principal] = entries.new_entry(self, cluster, request)
        if policy:
            arn = entries.policy_arn(self, policy)
            entries.associate(self, cluster.entries[principal], arn, {"type": "cluster"})

    def join(self, cluster: Cluster, name: str, *, labels: Mapping[str, str], taints: Any = ()) -> None:
        """Let a node join, or change the labels and taints of one that has.

        Args:
            cluster: which it joins.
            name: of the node.
            labels: on it.
            taints: on it, as Kubernetes has them.
        """
        ready = workloads.has_network(cluster)
        workloads.join(cluster.api, name, labels=labels, taints=taints, ready=ready)

    def make_room(self, cluster: Cluster, namespace: str) -> None:
        """Make a namespace with a queue of Kueue in it; one that is there stays.

        Args:
            cluster: where.
            namespace: its name; the queue's begins with it.
        """
        workloads.make_queue(cluster.api, namespace)

    def leave(self, cluster: Cluster, name: str) -> None:
        """Let a node go; one that is gone is no error."""
        workloads.leave(cluster.api, name)

    def cluster(self, name: str) -> Cluster:
        """Give a cluster.

        Raises:
            NotFoundError: there is none.
        """
        found = self.clusters.get(name)
        if found is None:
            raise NotFoundError(f"No cluster found for name: {name}.")
        return found

    def by_arn(self, arn: str) -> Cluster | None:
        """Give the cluster of an ARN; None when there is none."""
        return next((cluster for cluster in self.clusters.values() if cluster.arn == arn), None)

    def arn(self, kind: str, *parts: str) -> str:
        """Give the ARN of something."""
        account = self.account
        place = f"arn:{account.partition}:eks:{account.region}:{account.account_id}"
        return f"{place}:{kind}/{'/'.join(parts)}"

    def new_id(self, length: int) -> str:
        """Give hexadecimal digits; the same order every time."""
        return "".join(self._random.choices(_HEX, k=length))

    def now(self) -> float:
        """Give the simulated time, in seconds since 1970."""
        return self.timeline.now().timestamp()

    def trusts(self, role_arn: str, principal: str) -> bool:
        """Tell whether a role is there and a service may assume it."""
        role = next((role for role in self.account.iam.roles.values() if role.arn == role_arn), None)
        return role is not None and principal in str(role.assume_role_policy_document)


def page(items: list[Any], request: Mapping[str, Any], member: str) -> Spec:
    """Give a page of a list, as ``maxResults`` and ``nextToken`` ask for it.

    Raises:
        InvalidParameterError: the token is of no page.
    """
    try:
        first = int(request.get("nextToken") or 0)
    except ValueError:
        raise InvalidParameterError("Invalid nextToken") from None
    size = int(request.get("maxResults") or 100)
    more = {"nextToken": str(first + size)} if first + size < len(items) else {}
    return {member: items[first : first + size], **more}


__all__ = ["AmazonEks", "Durations", "EksError", "Operation", "page"]
