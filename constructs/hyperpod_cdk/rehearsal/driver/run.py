"""The course of a rehearsal."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from hyperpod_cdk.rehearsal import hyperpod
from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from hyperpod_cdk.rehearsal.driver.fault_play import play_fault
from hyperpod_cdk.rehearsal.driver.faults import Fault
from hyperpod_cdk.rehearsal.driver.host_nodes import HostNodes
from hyperpod_cdk.rehearsal.driver.nodes import RealNodes
from hyperpod_cdk.rehearsal.driver.outcome import RehearsalError, Stage
from hyperpod_cdk.rehearsal.driver.play import Rehearsal
from hyperpod_cdk.rehearsal.driver.toolkit import Toolkit
from hyperpod_cdk.rehearsal.driver.variants import Variants
from hyperpod_cdk.rehearsal.hosts.host import HostError
from hyperpod_cdk.rehearsal.hosts.requirements import CannotRunHostsError
from hyperpod_cdk.rehearsal.interruptions import Interruptions
from hyperpod_cdk.rehearsal.scratch import scratch

SPEED = 240.0
"""How much faster than real time clusters, state machines and custom resources live."""
SETUP_THREADS = 4
"""Nodes that run their scripts at a time."""
HOSTS_SPEED = 40.0
"""The same where nodes are hosts: their scripts take real seconds, which count as so many more."""
HOSTS_SETUP_THREADS = 64
SETUP_SECONDS = 600
"""How long nodes may take. Their scripts are real processes: a busy machine must not fail a cluster."""
GIVE_UP_SECONDS = 90
"""When the service gives nodes up that a fault keeps down: before CloudFormation ends a wait for them."""
DEFAULT_REGION = "us-west-2"
LOGS = Path(".rehearsal")
"""Where the CDK CLI's output is kept until the next rehearsal."""


@contextmanager
def prepared(
    config: Path, *, fault: Fault | None, stage: Stage, on_hosts: bool = False
) -> Iterator[Rehearsal]:
    """Start an embedded AWS in which a configuration can be rehearsed.

    Args:
        config: the YAML file.
        fault: what goes wrong; None for nothing.
        stage: where it is told how things go.
        on_hosts: whether nodes are hosts with real daemons; see :mod:`hyperpod_cdk.rehearsal.hosts`.
    """
    speed = HOSTS_SPEED if on_hosts else SPEED
    with scratch("hyperpod-rehearsal-") as folder:
        for part in ("cdk", "variants", "nodes"):
            (folder / part).mkdir()
        variants = Variants(config, folder / "variants")
        region = variants.first.spec.region or DEFAULT_REGION
        with EmbeddedAws(region=region, speed=speed, extensions=[hyperpod.install]) as aws:
            service = hyperpod.service(aws.account_id, region)
            service.clock.speed = speed
            service.setup_threads = HOSTS_SETUP_THREADS if on_hosts else SETUP_THREADS
            patience = SETUP_SECONDS * speed
            service.durations = replace(
                service.durations,
                ready_timeout=patience,
                min_count_timeout=GIVE_UP_SECONDS * speed if fault else patience,
            )
            commands = fault.strikes(variants.first.spec) if fault else ()
            toolkit = Toolkit(
                environment=aws.environment(), folder=folder / "cdk", logs=_fresh(LOGS), stage=stage
            )
            with ExitStack() as stack:
                # after the hosts are gone: nobody waits for scripts that run on them
                stack.callback(service.close)
                hosts = (
                    stack.enter_context(HostNodes(aws, service, logs=LOGS, faults=commands))
                    if on_hosts
                    else None
                )
                service.node_setup = hosts or RealNodes(aws.client("s3"), folder / "nodes", faults=commands)
                yield Rehearsal(
                    aws=aws, service=service, toolkit=toolkit, variants=variants, stage=stage, hosts=hosts
                )


def _fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


@contextmanager
def _telling(stage: Stage) -> Iterator[None]:
    """Say at once that an interruption was heard: to take everything down needs some seconds."""
    try:
        yield
    except KeyboardInterrupt:
        stage.say("interrupted: taking everything down")
        raise


def run(config: Path, *, keep: bool, fault: Fault | None, on_hosts: bool = False) -> int:
    """Rehearse a configuration; see :func:`hyperpod_cdk.rehearsal.rehearse`."""
    stage = Stage()
    interruptions = Interruptions()
    try:
        with (
            interruptions,
            prepared(config, fault=fault, stage=stage, on_hosts=on_hosts) as rehearsal,
            _telling(stage),
        ):
            if fault:
                play_fault(rehearsal, fault)
            else:
                rehearsal.play(keep=keep)
    except (RehearsalError, CannotRunHostsError, HostError) as error:
        stage.say(f"the rehearsal failed: {error}", style="bold red")
        return 1
    except KeyboardInterrupt:
        stage.say("interrupted; nothing of it is left running")
        return interruptions.exit_code
    stage.say("the rehearsal went as it should", style="bold green")
    return 0
