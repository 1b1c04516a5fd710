"""Settings of slurm.conf by the number of nodes."""

import pytest

from hyperpod_cdk.service.slurm_scale import SCALES, for_nodes


@pytest.mark.parametrize(
    ("nodes", "tree"), [(0, None), (64, None), (65, "64"), (512, "64"), (513, "128"), (6758, "128")]
)
def test_where_each_profile_begins(nodes: int, tree: str | None) -> None:
    assert for_nodes(nodes).get("TreeWidth") == tree


def test_36_large_instances_may_boot_for_five_minutes() -> None:
    assert {scale.settings["ResumeTimeout"] for scale in SCALES} == {"300"}


def test_slurms_own_condition_on_two_of_them() -> None:
    """slurm.conf(5): UnkillableStepTimeout is at least five times MessageTimeout."""
    for scale in SCALES:
        message = int(scale.settings.get("MessageTimeout", 10))
        assert int(scale.settings.get("UnkillableStepTimeout", 60)) >= 5 * message


def test_no_profile_touches_what_auto_resume_needs() -> None:
    for scale in SCALES:
        assert not {"TaskPlugin", "SchedulerParameters", "GresTypes"} & scale.settings.keys()
