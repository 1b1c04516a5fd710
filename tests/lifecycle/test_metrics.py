"""What nodes measure, as Prometheus reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.metrics import efa, gpu, slurm
from hyperpod_node.metrics.__main__ import COLLECTORS, measure
from hyperpod_node.metrics.text import Sample, render
from tests.lifecycle.scripted import Scripted, scripted

# what `sdiag` of Slurm 22.05 prints, shortened
SDIAG = """\
*******************************************************
Server thread count:  3
Agent queue size:     7
Jobs submitted: 12
Jobs running:   0
Main schedule statistics (microseconds):
\tLast cycle:   9000
\tMean cycle:   10000
Backfilling stats
\tLast cycle when: N/A
\tLast cycle: 2000000
Remote Procedure Call statistics by message type
\tLast cycle: 1
"""
# nvidia-smi --query-gpu=... --format=csv,noheader,nounits, an H100 and one that knows less
SMI = """\
0, GPU-1, NVIDIA H100 80GB HBM3, 98, 50, 70000, 81559, 61, 650.12, 1980, 2, 0, No
1, GPU-2, NVIDIA H100 80GB HBM3, [N/A], 0, 0, 81559, 33, [Not Supported], 345, 0, 3, Yes
"""


def values(samples: list[Sample]) -> dict[str, float]:
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines(samples)}


def lines(samples: list[Sample]) -> list[str]:
    return [line for line in render(samples).splitlines() if not line.startswith("#")]


def test_the_format() -> None:
    samples = [
        Sample(name="b_total", value=1),
        Sample(name="a", value=0.5, labels={"x": 'say "hi"\\\n'}),
        Sample(name="b_total", value=12345678901, labels={"y": "1"}),
    ]
    assert render(samples) == (
        '# TYPE a gauge\na{x="say \\"hi\\"\\\\\\n"} 0.5\n'
        '# TYPE b_total counter\nb_total 1\nb_total{y="1"} 12345678901\n'
    )


def test_large_counters_keep_their_digits() -> None:
    assert lines([Sample(name="x_total", value=2**53)]) == ["x_total 9007199254740992"]


def test_gpus_with_the_jobs_that_hold_them(tmp_path: Path) -> None:
    this = scripted(tmp_path, answers={"nvidia-smi": (0, SMI)}, present=["nvidia-smi"])
    this.context.root.write("/run/slurm/dcgm-job-mapping/0", "4711\n")
    found = values(list(gpu.samples(this.context.root, this.context.commands)))
    first = '{gpu="0",uuid="GPU-1",model="NVIDIA H100 80GB HBM3",job="4711"}'
    second = '{gpu="1",uuid="GPU-2",model="NVIDIA H100 80GB HBM3",job=""}'
    assert found["hyperpod_gpus"] == 2
    assert found[f"hyperpod_gpu_allocated{first}"] == 1
    assert found[f"hyperpod_gpu_allocated{second}"] == 0
    assert found[f"hyperpod_gpu_memory_used_bytes{first}"] == 70000 * 2**20
    assert found[f"hyperpod_gpu_sm_clock_hertz{first}"] == 1.98e9
    assert found[f"hyperpod_gpu_ecc_uncorrected_errors_total{second}"] == 3
    assert found[f"hyperpod_gpu_retired_pages_pending{second}"] == 1
    # what a GPU does not know is left out, rather than said to be 0
    assert f"hyperpod_gpu_utilization_percent{second}" not in found
    assert f"hyperpod_gpu_power_watts{second}" not in found


def test_123_a_driver_that_does_not_answer_is_told_and_no_gpu_is_made_up(tmp_path: Path) -> None:
    broken = scripted(
        tmp_path / "a", answers={"nvidia-smi": (9, "driver not loaded")}, present=["nvidia-smi"]
    )
    found = values(list(gpu.samples(broken.context.root, broken.context.commands)))
    assert found == {"hyperpod_gpu_driver_answers": 0}
    none = scripted(tmp_path / "b")
    assert list(gpu.samples(none.context.root, none.context.commands)) == []


def efa_node(tmp_path: Path) -> Scripted:
    this = scripted(tmp_path)
    root = this.context.root
    for name, driver in (("rdmap0s31", "efa"), ("mlx5_0", "mlx5_core")):
        target = root.path(f"/sys/bus/pci/drivers/{driver}")
        target.mkdir(parents=True)
        root.write(f"/sys/class/infiniband/{name}/ports/1/state", "4: ACTIVE\n")
        root.write(f"/sys/class/infiniband/{name}/ports/1/hw_counters/rx_bytes", "1234567890123\n")
        root.write(f"/sys/class/infiniband/{name}/ports/1/hw_counters/lifespan", "12\n")
        device = root.path(f"/sys/class/infiniband/{name}/device")
        device.mkdir()
        (device / "driver").symlink_to(target)
    return this


def test_efa_counters_of_efa_devices_alone(tmp_path: Path) -> None:
    this = efa_node(tmp_path)
    assert efa.devices(this.context.root) == ["rdmap0s31"]
    found = values(list(efa.samples(this.context.root)))
    assert found == {
        "hyperpod_efa_devices": 1,
        'hyperpod_efa_port_active{device="rdmap0s31",port="1"}': 1,
        'hyperpod_efa_rx_bytes_total{device="rdmap0s31",port="1"}': 1234567890123,
    }
    this.context.root.write("/sys/class/infiniband/rdmap0s31/ports/1/state", "1: DOWN\n")
    down = values(list(efa.samples(this.context.root)))
    assert down['hyperpod_efa_port_active{device="rdmap0s31",port="1"}'] == 0


def test_slurms_nodes_jobs_and_scheduler(tmp_path: Path) -> None:
    answers = {
        "sinfo": (0, "dev|idle|3\ndev|down*|1\ngpu|mixed~|2"),
        "squeue": (0, "gpu|RUNNING|vision|4\ngpu|RUNNING|vision|2\ngpu|PENDING|text|1"),
        "sdiag": (0, SDIAG),
    }
    this = scripted(tmp_path, answers=answers, present=["sinfo"])
    found = values(list(slurm.samples(this.context.commands)))
    assert found['hyperpod_slurm_nodes{partition="dev",state="down"}'] == 1
    assert found['hyperpod_slurm_nodes{partition="dev",state="not responding"}'] == 1
    assert found['hyperpod_slurm_nodes{partition="gpu",state="mixed"}'] == 2
    running = '{partition="gpu",state="running",account="vision"}'
    assert found[f"hyperpod_slurm_jobs{running}"] == 2
    assert found[f"hyperpod_slurm_job_nodes{running}"] == 6
    assert found["hyperpod_slurm_agent_queue"] == 7
    assert found["hyperpod_slurm_jobs_submitted_total"] == 12
    assert found['hyperpod_slurm_cycle_last_seconds{scheduler="main"}'] == 0.009
    assert found['hyperpod_slurm_cycle_last_seconds{scheduler="backfill"}'] == 2.0


def test_a_slurm_that_is_down_is_a_figure_too(tmp_path: Path) -> None:
    this = scripted(tmp_path, answers={"sinfo": (1, "Unable to contact slurm controller")})
    assert values(list(slurm.samples(this.context.commands))) == {"hyperpod_slurm_up": 0}


def test_a_collector_that_fails_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_root: object, _commands: object) -> list[Sample]:
        raise NodeError("broken")

    monkeypatch.setitem(COLLECTORS, "efa", broken)
    this = scripted(tmp_path)
    found = values(measure("efa", this.context.root, this.context.commands))
    assert found['hyperpod_collector_ok{collector="efa"}'] == 0
    assert 'hyperpod_collector_seconds{collector="efa"}' in found
