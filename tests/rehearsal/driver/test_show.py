"""What a rehearsal prints: ids that are to be copied stay whole."""

import pytest

from hyperpod_cdk.rehearsal.driver.leftovers import Leftover
from hyperpod_cdk.rehearsal.driver.outcome import Stage
from hyperpod_cdk.rehearsal.driver.show import show_leftovers

BUCKET = "slurm-minimal-clusterlifecycleaccesslogs3054ebe8-ouo4qwsa5s7q"


def test_no_id_is_cut_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A log is searched and copied from; a column of a table must not fold a name in two."""
    left = Leftover(kind="bucket", name=BUCKET, reason="DeletionPolicy of " + "L" * 80)
    show_leftovers(Stage().console, [left])
    (row,) = [line for line in capsys.readouterr().out.splitlines() if "bucket" in line]
    assert BUCKET in row
    assert "L" * 80 in row
