"""GPUs, as nvidia-smi tells of them, and the job that holds each."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_node.commands import Commands
from hyperpod_node.metrics.text import Sample, number
from hyperpod_node.root import Root

# a file for each GPU with the job that holds it, kept by the image's prolog and epilog
JOBS = "/run/slurm/dcgm-job-mapping"
LABELS = ("index", "uuid", "name")
FIELDS = {
    "utilization.gpu": ("utilization_percent", 1),
    "utilization.memory": ("memory_utilization_percent", 1),
    "memory.used": ("memory_used_bytes", 1 << 20),
    "memory.total": ("memory_bytes", 1 << 20),
    "temperature.gpu": ("temperature_celsius", 1),
    "power.draw": ("power_watts", 1),
    "clocks.sm": ("sm_clock_hertz", 1_000_000),
    "ecc.errors.corrected.aggregate.total": ("ecc_corrected_errors_total", 1),
    "ecc.errors.uncorrected.aggregate.total": ("ecc_uncorrected_errors_total", 1),
    "retired_pages.pending": ("retired_pages_pending", 1),
}
"""What is asked of nvidia-smi, the metric that it becomes, and what one of its units is."""
WORDS = {"No": 0.0, "Yes": 1.0}


def samples(root: Root, commands: Commands) -> Iterator[Sample]:
    """Every field that this kind of GPU has; one that it lacks is left out."""
    if not commands.available("nvidia-smi"):
        return
    query = ",".join([*LABELS, *FIELDS])
    done = commands.run(
        "nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits", accept=(0, 2, 6, 9)
    )
    yield Sample(name="hyperpod_gpu_driver_answers", value=done.exit_code == 0)
    if done.exit_code:
        return
    jobs = _jobs(root)
    rows = [
        [cell.strip() for cell in line.split(",")] for line in done.lines if line.count(",") >= len(FIELDS)
    ]
    yield Sample(name="hyperpod_gpus", value=len(rows))
    for row in rows:
        labels = dict(zip(("gpu", "uuid", "model"), row[: len(LABELS)], strict=True))
        job = jobs.get(labels["gpu"], "")
        yield Sample(name="hyperpod_gpu_allocated", value=bool(job), labels={**labels, "job": job})
        for (name, unit), cell in zip(FIELDS.values(), row[len(LABELS) :], strict=True):
            value = WORDS.get(cell, number(cell))
            if value is not None:
                yield Sample(name=f"hyperpod_gpu_{name}", value=value * unit, labels={**labels, "job": job})


def _jobs(root: Root) -> dict[str, str]:
    folder = root.path(JOBS)
    if not folder.is_dir():
        return {}
    return {
        path.name: next(iter(path.read_text(encoding="utf-8").split()), "")
        for path in folder.iterdir()
        if path.is_file()
    }
