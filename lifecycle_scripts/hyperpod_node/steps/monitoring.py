"""Metrics: node_exporter, our own collectors, and an agent that writes them to the deployment's workspace."""

from __future__ import annotations

import json

from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.downloads import fetch
from hyperpod_node.errors import NotYetError
from hyperpod_node.features import Monitoring
from hyperpod_node.metrics import FOLDER as METRICS
from hyperpod_node.metrics import efa
from hyperpod_node.steps.buckets import program_in, unpack
from hyperpod_node.steps.keep import FOLDER as SCRIPTS
from hyperpod_node.units import is_active

PROGRAMS = "/opt/hyperpod-cdk/programs"
CONF = "/etc/hyperpod-cdk/prometheus.yml"
STORAGE = "/var/lib/hyperpod-cdk/prometheus"
UNITS = "/etc/systemd/system"
# on the loopback alone, and not on the exporters' usual ports, which the image may use itself
EXPORTER = "127.0.0.1:9817"
AGENT = "127.0.0.1:9818"
ACTIVE_LIMIT_SECONDS = 60
ADVICE = "see `journalctl -u hyperpod-prometheus -u hyperpod-node-exporter -u hyperpod-metrics`"
GPU_DEVICE = "/dev/nvidia0"


def set_up_monitoring(context: Context) -> str:
    """Have the node's figures measured, and written to the workspace."""
    wanted = context.config.features.monitoring
    assert wanted is not None
    measuring = collectors(context, wanted)
    exporter = _program(context, "node-exporter", "node_exporter")
    agent = _program(context, "prometheus", "prometheus")
    for folder in (METRICS, STORAGE):
        context.root.path(folder).mkdir(parents=True, exist_ok=True)
    texts = units(wanted, measuring, exporter, agent)
    changed = [name for name, text in texts.items() if context.root.write(f"{UNITS}/{name}", text)]
    conf_changed = context.root.write(CONF, configuration(context, wanted))
    if changed:
        context.commands.run("systemctl", "daemon-reload")
    started = [name for name in texts if name != "hyperpod-metrics.service"]
    for name in started:
        again = name in changed or (conf_changed and name == "hyperpod-prometheus.service")
        context.commands.run("systemctl", "enable", name)
        context.commands.run("systemctl", "restart" if again else "start", name, advice=ADVICE)
    for name in started:
        wait_for(
            lambda name=name: _active(context, name),  # type: ignore[misc]
            what=name,
            deadline=context.deadline,
            say=context.say,
            limit_seconds=ACTIVE_LIMIT_SECONDS,
            advice=ADVICE,
        )
    measured = ", ".join([*(["node"] if "node" in wanted.exporters else []), *measuring])
    return f"{measured} every {wanted.interval_seconds} s"


def collectors(context: Context, wanted: Monitoring) -> list[str]:
    """Those that have something to measure on this node (field report 123)."""
    here = {
        "efa": bool(efa.devices(context.root)),
        "gpu": context.node.node_type == "Compute" and context.root.path(GPU_DEVICE).exists(),
        "slurm": context.node.node_type == "Controller",
    }
    return [name for name, there in here.items() if there and name in wanted.exporters]


def _program(context: Context, artifact: str, name: str) -> str:
    archive = fetch(context, artifact)
    folder = f"{PROGRAMS}/{archive.parent.name[:16]}"
    if not context.root.path(folder).is_dir():
        unpack(archive, context.root.path(folder))
    return program_in(context, folder, name)


def units(wanted: Monitoring, collectors: list[str], exporter: str, agent: str) -> dict[str, str]:
    """The units by name."""
    collect = "" if "node" in wanted.exporters else " --collector.disable-defaults --collector.textfile"
    found = {
        "hyperpod-node-exporter.service": _service(
            "Metrics of the node",
            f"{exporter} --web.listen-address={EXPORTER} --collector.textfile.directory={METRICS}{collect}",
            user="nobody",
        ),
        "hyperpod-prometheus.service": _service(
            "Writes metrics to the workspace",
            f"{agent} --agent --config.file={CONF} --storage.agent.path={STORAGE} "
            f"--web.listen-address={AGENT}",
        ),
    }
    if collectors:
        found["hyperpod-metrics.service"] = (
            "[Unit]\nDescription=Measures GPUs, EFA and Slurm, by hyperpod-cdk\n\n"
            f"[Service]\nType=oneshot\nWorkingDirectory={SCRIPTS}\n"
            "Environment=PYTHONDONTWRITEBYTECODE=1\n"
            f"ExecStart=/usr/bin/python3 -m hyperpod_node.metrics {' '.join(collectors)}\n"
            "TimeoutStartSec=90\n"
        )
        # not all nodes in the same second
        found["hyperpod-metrics.timer"] = (
            "[Unit]\nDescription=Measures GPUs, EFA and Slurm, by hyperpod-cdk\n\n"
            f"[Timer]\nOnActiveSec=1\nOnUnitActiveSec={wanted.interval_seconds}\nRandomizedDelaySec=5\n"
            "AccuracySec=1\n\n[Install]\nWantedBy=timers.target\n"
        )
    return found


def _service(description: str, command: str, *, user: str = "root") -> str:
    return (
        f"[Unit]\nDescription={description}, by hyperpod-cdk\nAfter=network-online.target\n"
        "Wants=network-online.target\nStartLimitIntervalSec=0\n\n"
        f"[Service]\nUser={user}\nExecStart={command}\nRestart=always\nRestartSec=10\n\n"
        "[Install]\nWantedBy=multi-user.target\n"
    )


def configuration(context: Context, wanted: Monitoring) -> str:
    """The agent's configuration; JSON is YAML too, and quotes whatever stands in it."""
    node = context.node
    labels = {
        **wanted.labels,
        "cluster": node.cluster.name,
        "instance_group": node.instance.group,
        "instance_id": node.instance.instance_id,
        "node_type": node.node_type.lower(),
        "instance_type": node.instance.instance_type,
    }
    interval = f"{wanted.interval_seconds}s"
    document = {
        "global": {"scrape_interval": interval, "scrape_timeout": "10s", "external_labels": labels},
        "scrape_configs": [
            {
                "job_name": "node",
                "static_configs": [{"targets": [EXPORTER], "labels": {"instance": node.instance.address}}],
            }
        ],
        "remote_write": [
            {
                "url": wanted.remote_write_url,
                "sigv4": {"region": wanted.region},
                "queue_config": {"max_samples_per_send": 1000, "max_shards": 10, "capacity": 2500},
            }
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _active(context: Context, name: str) -> None:
    if not is_active(context, name):
        raise NotYetError(f"{name} does not run")
