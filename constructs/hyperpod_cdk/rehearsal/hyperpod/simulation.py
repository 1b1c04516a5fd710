"""What every part of the emulated service works with."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from hyperpod_cdk.rehearsal.hyperpod.aws import Account
from hyperpod_cdk.rehearsal.hyperpod.clock import Clock, Timeline
from hyperpod_cdk.rehearsal.hyperpod.durations import Durations
from hyperpod_cdk.rehearsal.hyperpod.faults import Faults
from hyperpod_cdk.rehearsal.hyperpod.governance import Governed
from hyperpod_cdk.rehearsal.hyperpod.network import Network
from hyperpod_cdk.rehearsal.hyperpod.node_setup import NodeSetupFunction, find_script
from hyperpod_cdk.rehearsal.hyperpod.quotas import Quotas
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, Spec

_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
_HEX = "0123456789abcdef"


class Simulation:
    """The clusters of one account and Region, the time in which they live, and what can be set.

    Args:
        account_id: 12 digits.
        region: for example ``us-west-2``.

    Attributes:
        clock: simulated time; stands still until it is advanced or given a speed.
        faults: what shall go wrong.
        durations: seconds for each phase; replace it to change them.
        quotas: limits of the account; unlimited until replaced.
        node_setup: called for each node whose lifecycle script is due; replace it to run something.
        setup_threads: 0 calls ``node_setup`` at once, inside the API call that finds it due; more runs
            that many at a time in the background.
        image_release: newest release of the HyperPod image.
        check_references: False accepts roles, subnets and security groups that are not there.
        clusters: by name.
        governed: compute quotas and cluster policies by their ids.
        governance_readiness: says why the cluster can not carry out task governance, as while the add-on is
            not there; empty when it can.
        caller_role: ARN of the role in which the current request is made; empty for anybody else.
        training_plans: by name, as DescribeTrainingPlan shows them; none until some are put there.
    """

    def __init__(self, account_id: str, region: str) -> None:
        self.account = Account(account_id, region)
        self.clock = Clock()
        self.timeline = Timeline(self.clock)
        self.faults = Faults()
        self.durations = Durations()
        self.quotas = Quotas()
        self.node_setup: NodeSetupFunction = find_script
        self.setup_threads = 0
        self.image_release = "1.0.0"
        self.check_references = True
        self.caller_role = ""
        self.clusters: dict[str, Cluster] = {}
        self.governed: dict[str, Governed] = {}
        self.governance_readiness: Callable[[Cluster], str] = lambda _cluster: ""
        self.training_plans: dict[str, Spec] = {}
        self.network = Network(self.account)
        self.random = random.Random(f"{account_id}/{region}")
        self._executor: ThreadPoolExecutor | None = None

    def new_id(self, prefix: str = "", length: int = 17) -> str:
        """Give a hexadecimal id such as ``i-0123456789abcdef0``; the same order every time."""
        return prefix + "".join(self.random.choices(_HEX, k=length))

    def new_cluster_id(self) -> str:
        """Give the last part of a new cluster's ARN: 12 characters of a to z and 0 to 9."""
        return "".join(self.random.choices(_ALPHABET, k=12))

    def new_uuid(self) -> str:
        """Give an id in the form of a UUID."""
        return "-".join(self.new_id(length=length) for length in (8, 4, 4, 4, 12))

    def executor(self) -> ThreadPoolExecutor:
        """Give the threads that run ``node_setup`` in the background."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self.setup_threads, thread_name_prefix="node-setup")
        return self._executor

    def close(self) -> None:
        """End the background threads, without waiting for what has not begun."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None
