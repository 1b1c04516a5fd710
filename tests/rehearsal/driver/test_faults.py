"""Faults are data that fits every example, and each promise that one makes can be broken and is then told."""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from moto import mock_aws
from rich.console import Console

from hyperpod_cdk import cli
from hyperpod_cdk.rehearsal import hyperpod, rehearse
from hyperpod_cdk.rehearsal.driver import checks, fault_play
from hyperpod_cdk.rehearsal.driver.fault_play import in_one_line, play_fault
from hyperpod_cdk.rehearsal.driver.faults import FAULTS, Fault, first_group
from hyperpod_cdk.rehearsal.driver.outcome import RehearsalError, Stage
from hyperpod_cdk.rehearsal.driver.standins import provide_foreign_cluster
from hyperpod_cdk.rehearsal.driver.variants import Variants
from tests.rehearsal.hyperpod.samples import REGION, client

CONFIG = Path("clusters/slurm-minimal.yaml").resolve()
NAME = "slurm-minimal"
EXAMPLES = sorted(Path("clusters").glob("*.yaml"))


@dataclass
class Play:
    """A rehearsal whose commands are functions that act on the emulated service.

    Args:
        folder: for the configurations.
        commands: what the commands do, in their order; each gives whether it succeeded.
    """

    folder: Path
    commands: list[Callable[["Play"], bool]]
    reason: str = ""
    terminal: str | None = None
    status: str = ""
    unanswered: list[str] = field(default_factory=list)
    failures: list[Any] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.console = io.StringIO()
        self.stage = Stage(Console(file=self.console, width=200))
        self.service = hyperpod.service(region=REGION)
        self.variants = Variants(CONFIG, self.folder)
        self.aws = SimpleNamespace(
            client=client, failures=lambda: list(self.failures), unanswered=lambda: self.unanswered
        )
        self.toolkit = SimpleNamespace(deploy=self.deploy, destroy=self.destroy)

    def deploy(self, path: Path, *, may_fail: bool) -> bool:
        assert path.is_file()
        succeeded = self.commands.pop(0)(self)
        if not succeeded:
            event = {"ResourceType": "Custom::HyperPodCluster", "LogicalResourceId": "Cluster"}
            self.failures.append(SimpleNamespace(**event, ResourceStatusReason=self.reason))
        self.toolkit.output = self.reason if self.terminal is None else self.terminal
        return succeeded

    def destroy(self) -> None:
        assert self.commands.pop(0)(self)

    def stack(self, variant: Any) -> Any:
        return SimpleNamespace(status=self.status, status_reason=None)

    def bootstrap(self) -> None:
        self.checked.append("bootstrap")

    def expect_cluster(self, variant: Any) -> None:
        self.checked.append("cluster")

    def expect_nothing_left(self, before: Any, variant: Any) -> None:
        self.checked.append("nothing left")

    def play(self, fault: Fault) -> str:
        rehearsal: Any = self
        play_fault(rehearsal, fault)
        assert not self.commands
        return self.console.getvalue()


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")
    monkeypatch.setattr(checks, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(fault_play, "inventory", lambda _: {})
    hyperpod.install()
    with mock_aws():
        yield
        hyperpod.service(region=REGION).faults.clear()


# -- the data --------------------------------------------------------------------------------------------


def test_the_faults_that_are_promised() -> None:
    assert list(FAULTS) == ["capacity", "conflict", "foreign-cluster", "lifecycle", "rollback"]


def test_help_names_every_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["rehearse", "--help"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert ", ".join(FAULTS) in told
    assert all(f"``{name}``" in str(rehearse.__doc__) for name in FAULTS)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_every_fault_fits_every_example(fault: Fault, path: Path, tmp_path: Path) -> None:
    variants = Variants(path.resolve(), tmp_path)
    for step in fault.steps:
        assert bool(step.says) == ("ROLLBACK" in step.status)
        variant = step.deploys(variants) if step.deploys else variants.destroyable()
        assert variant.spec.termination_protection is False
        assert first_group(variant.spec) in variant.counts
        for text in step.says:
            assert "{" not in text.format(cluster="c", group="g")
        for trouble in step.troubles(variant.spec):
            assert getattr(trouble, "group", "*") in {"*", *variant.counts}


def test_one_line_has_the_last_line_of_each_text_once() -> None:
    reason = "headline\nno capacity: first\ngroup a: Failed\nno capacity: last\nend"
    assert in_one_line(reason, ["no capacity", "last", "group a"]) == "no capacity: last; group a: Failed"


# -- what fails as it should -----------------------------------------------------------------------------

TAKEN = f"Error: ClusterName: a cluster {NAME} exists and is not this stack's: it is x. Choose another"
NO_CAPACITY = (
    "Create failed\nWe do not have sufficient capacity\ninstance group controller: Failed, 0 of 1 nodes"
)


def fails(play: Play) -> bool:
    return False


def succeeds(play: Play) -> bool:
    return True


def foreign(tmp_path: Path, act: Callable[[Play], object], **facts: Any) -> Play:
    def command(play: Play) -> bool:
        act(play)
        return False

    return Play(tmp_path, [command], **{"reason": TAKEN, "status": "ROLLBACK_COMPLETE", **facts})


def test_foreign_cluster_is_in_service_and_stays(tmp_path: Path) -> None:
    seen = []
    play = foreign(tmp_path, lambda _: seen.append(client("sagemaker").describe_cluster(ClusterName=NAME)))
    told = play.play(FAULTS["foreign-cluster"])
    assert seen[0]["ClusterStatus"] == "InService"
    assert f"in one line: {TAKEN}" in told
    assert f"what they were before: {NAME}" in told
    assert play.checked == ["bootstrap", "nothing left"]


TOUCHES: dict[str, tuple[Callable[[Any, str], object], str]] = {
    "deleted": (
        lambda sagemaker, arn: sagemaker.delete_cluster(ClusterName=arn),
        "ClusterStatus was InService, is Deleting",
    ),
    "tagged": (
        lambda sagemaker, arn: sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "k", "Value": "v"}]),
        "Tags was",
    ),
    "untagged": (
        lambda sagemaker, arn: sagemaker.delete_tags(ResourceArn=arn, TagKeys=["owner"]),
        "Tags was",
    ),
}


@pytest.mark.parametrize("case", TOUCHES.values(), ids=TOUCHES)
def test_foreign_cluster_that_is_touched_is_told(case: Any, tmp_path: Path) -> None:
    touch, told = case

    def act(_: Play) -> None:
        sagemaker = client("sagemaker")
        touch(sagemaker, sagemaker.describe_cluster(ClusterName=NAME)["ClusterArn"])

    with pytest.raises(RehearsalError, match=told):
        foreign(tmp_path, act).play(FAULTS["foreign-cluster"])


def test_foreign_cluster_that_is_gone_is_told(tmp_path: Path) -> None:
    def act(play: Play) -> None:
        play.service.clusters.clear()

    with pytest.raises(RehearsalError, match=f"cluster {NAME} is gone"):
        foreign(tmp_path, act).play(FAULTS["foreign-cluster"])


def test_cluster_that_a_failed_deployment_leaves_is_told(tmp_path: Path) -> None:
    def leaves_a_cluster(play: Play) -> bool:
        provide_foreign_cluster(play.service, play.variants.first.spec)
        return False

    play = Play(tmp_path, [leaves_a_cluster], reason=NO_CAPACITY, status="ROLLBACK_COMPLETE")
    with pytest.raises(RehearsalError, match="left, and was not there before"):
        play.play(FAULTS["capacity"])


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "the reason says nothing": ({"reason": "Operation timed out"}, "what the terminal shows of it, lacks"),
    "the group is not named": (
        {"reason": NO_CAPACITY.replace("controller", "x")},
        "group controller: Failed",
    ),
    "the terminal says nothing": ({"terminal": "ROLLBACK_COMPLETE"}, "what the terminal shows of it, lacks"),
    "the rollback fails": ({"status": "ROLLBACK_FAILED"}, "the stack is ROLLBACK_FAILED"),
    "the deployment succeeds": ({"commands": [succeeds]}, "succeeded, and should not have"),
    "the embedded AWS has a gap": ({"unanswered": ["ec2 Describe"]}, "could not answer:\nec2 Describe"),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_what_does_not_fail_as_it_should_is_told(case: Any, tmp_path: Path) -> None:
    facts, told = case
    usual = {"commands": [fails], "reason": NO_CAPACITY, "status": "ROLLBACK_COMPLETE"}
    with pytest.raises(RehearsalError, match=told):
        Play(tmp_path, **{**usual, **facts}).play(FAULTS["capacity"])


def test_scripts_that_a_fault_can_not_strike_are_told(tmp_path: Path) -> None:
    """A group with scripts of the user's own comes up all the same."""
    play = Play(tmp_path, [succeeds])
    with pytest.raises(RehearsalError, match=r"no node's script ran dpkg\. Scripts of your own may do"):
        play.play(FAULTS["lifecycle"])


def test_terminal_may_break_lines(tmp_path: Path) -> None:
    play = Play(tmp_path, [fails], reason=NO_CAPACITY, status="ROLLBACK_COMPLETE")
    play.terminal = NO_CAPACITY.replace(" sufficient", "\n    sufficient")
    told = play.play(FAULTS["capacity"])
    assert "in one line: We do not have sufficient capacity; instance group controller: Failed" in told


# -- what succeeds all the same --------------------------------------------------------------------------


def ends(status: str, *operations: str) -> Callable[[Play], bool]:
    def command(play: Play) -> bool:
        play.status = status
        for operation in operations:
            play.service.faults.strike_operation(operation)
        return True

    return command


def destroys(conflicts: int) -> Callable[[Play], bool]:
    def command(play: Play) -> bool:
        play.status = "DELETE_COMPLETE"
        return all(play.service.faults.strike(hyperpod.DeleteConflict) for _ in range(conflicts))

    return command


def test_conflicts_that_all_strike_are_told(tmp_path: Path) -> None:
    commands = [ends("CREATE_COMPLETE"), ends("UPDATE_COMPLETE", *["UpdateCluster"] * 3), destroys(3)]
    play = Play(tmp_path, commands)
    told = play.play(FAULTS["conflict"])
    assert "UPDATE_COMPLETE, though the service answered with Conflict, 3 times" in told
    assert "DELETE_COMPLETE, though the service answered with DeleteConflict, 3 times" in told
    assert play.checked == ["bootstrap", "cluster", "cluster", "nothing left"]


SHORT: dict[str, tuple[list[str], int]] = {
    "update": (["UpdateCluster"] * 2, 3),
    "delete": (["UpdateCluster"] * 3, 2),
}


@pytest.mark.parametrize("case", SHORT.values(), ids=SHORT)
def test_fault_that_does_not_strike_proves_nothing(case: Any, tmp_path: Path) -> None:
    updates, deletes = case
    play = Play(tmp_path, [ends("CREATE_COMPLETE"), ends("UPDATE_COMPLETE", *updates), destroys(deletes)])
    with pytest.raises(RehearsalError, match="this never happened, or not often enough"):
        play.play(FAULTS["conflict"])


def test_step_that_should_succeed_and_notes_a_failure_is_told(tmp_path: Path) -> None:
    def notes_a_failure(play: Play) -> bool:
        play.failures.append(SimpleNamespace(LogicalResourceId="Key", ResourceStatusReason="denied"))
        play.status = "CREATE_COMPLETE"
        return True

    with pytest.raises(RehearsalError, match="deploy: Key: denied"):
        Play(tmp_path, [notes_a_failure]).play(FAULTS["conflict"])


def rolls_back(*, scaled: bool) -> Callable[[Play], bool]:
    def command(play: Play) -> bool:
        play.status = "UPDATE_ROLLBACK_COMPLETE"
        (cluster,) = play.service.clusters.values()
        cluster.groups["theirs"].target += int(scaled)
        return False

    return command


def creates(play: Play) -> bool:
    play.status = "CREATE_COMPLETE"
    provide_foreign_cluster(play.service, play.variants.first.spec)
    return True


def removes(play: Play) -> bool:
    play.status = "DELETE_COMPLETE"
    play.service.clusters.clear()
    return True


def test_update_taken_back(tmp_path: Path) -> None:
    reason = "Update failed: the service did not keep it\nConfiguration drift detected."
    play = Play(tmp_path, [creates, rolls_back(scaled=False), removes], reason=reason)
    told = play.play(FAULTS["rollback"])
    assert "in one line: Update failed: the service did not keep it; Configuration drift detected." in told


def test_update_that_is_not_taken_back_is_told(tmp_path: Path) -> None:
    reason = "Update failed: the service did not keep it\nConfiguration drift detected."
    play = Play(tmp_path, [creates, rolls_back(scaled=True), removes], reason=reason)
    with pytest.raises(RehearsalError, match=f"cluster {NAME}: InstanceGroups was"):
        play.play(FAULTS["rollback"])
