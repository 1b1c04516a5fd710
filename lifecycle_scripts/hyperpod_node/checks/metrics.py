"""Looks at whether the node's figures are measured, and arrive."""

from __future__ import annotations

import re
import time

from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.features import Monitoring
from hyperpod_node.metrics import FOLDER
from hyperpod_node.steps import monitoring
from hyperpod_node.units import is_active

STALE_INTERVALS = 5
FIGURE = re.compile(r"^(\w+)(?:\{[^}]*\})? ([0-9.e+-]+)$", re.MULTILINE)
TOTAL, FAILED, SENT_AT = (
    f"prometheus_remote_storage_{name}"
    for name in ("samples_total", "samples_failed_total", "queue_highest_sent_timestamp_seconds")
)
NOT_OK = r"^hyperpod_collector_ok\b.* 0(\.0)?$"
STARTED_AT = "process_start_time_seconds"


def metrics(context: Context) -> str:
    """Whether figures are measured, and the workspace takes them."""
    wanted = context.config.features.monitoring
    assert wanted is not None
    for unit in ("hyperpod-node-exporter", "hyperpod-prometheus"):
        if not is_active(context, unit):
            raise NodeError(f"{unit} does not run", advice=monitoring.ADVICE)
    told = _told(context)
    stale = STALE_INTERVALS * wanted.interval_seconds
    _measured(context, wanted, stale, settled=time.time() - told.get(STARTED_AT, 0.0) > stale)
    _written(told, stale)
    return "measured and written"


def _told(context: Context) -> dict[str, float]:
    """What the agent tells of itself: sums over labels, by name."""
    # the loopback is nobody's proxy's business
    patience = (
        "--noproxy",
        "*",
        "--max-time",
        "10",
        "--retry",
        "5",
        "--retry-connrefused",
        "--retry-delay",
        "1",
    )
    url = f"http://{monitoring.AGENT}/metrics"
    text = context.commands.run("curl", "--silent", "--fail", *patience, url, advice=monitoring.ADVICE).text
    found: dict[str, float] = {}
    for name, value in FIGURE.findall(text):
        found[name] = found.get(name, 0.0) + float(value)
    if STARTED_AT not in found:
        raise NodeError(f"{url} tells nothing of the agent", advice=monitoring.ADVICE)
    return found


def _measured(context: Context, wanted: Monitoring, stale: float, *, settled: bool) -> None:
    here = [f"{name}.prom" for name in monitoring.collectors(context, wanted)]
    files = {path.name: path for path in sorted(context.root.path(FOLDER).glob("*.prom"))}
    # the first round comes a moment after the set-up
    missing = [name for name in here if name not in files] if settled else []
    old = [name for name, path in files.items() if time.time() - path.stat().st_mtime > stale]
    if missing or old:
        raise NodeError(
            f"not measured for some time: {', '.join([*missing, *old])}", advice=monitoring.ADVICE
        )
    texts = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    failing = [name for name, text in texts.items() if re.search(NOT_OK, text, re.MULTILINE)]
    if failing:
        raise NodeError(f"can not be measured: {', '.join(failing)}", advice=monitoring.ADVICE)


def _written(told: dict[str, float], stale: float) -> None:
    total, failed = told.get(TOTAL, 0.0), told.get(FAILED, 0.0)
    # a few may have come to grief some day; most of them is a role that may not write, or another Region
    if failed and failed * 2 >= total:
        raise NodeError(
            f"the workspace refused {failed:.0f} of {total:.0f} samples",
            advice=f"{monitoring.ADVICE}; the role needs aps:RemoteWrite on this workspace",
        )
    began = max(told[STARTED_AT], told.get(SENT_AT, 0.0))
    if time.time() - began > stale:
        raise NodeError(
            f"nothing has reached the workspace for {time.time() - began:.0f} s", advice=monitoring.ADVICE
        )
