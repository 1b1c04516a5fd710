"""What every step is given."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hyperpod_node.clock import Clock, Deadline
from hyperpod_node.commands import Commands
from hyperpod_node.config import NodeConfig
from hyperpod_node.facts import Node
from hyperpod_node.log import Log
from hyperpod_node.root import Root


class Context(NamedTuple):
    """The node, the deployment, and the means to act.

    Args:
        root: the machine's file system.
        commands: starts programs, bound to this step's deadline.
        clock: what waiting is counted on.
        deadline: when this step has to be done.
        log: the lifecycle log.
        environment: the environment of the entry script.
        directory: where the scripts and config.json lie.
        config: config.json.
        node: this node.
        step: name of the running step.
    """

    root: Root
    commands: Commands
    clock: Clock
    deadline: Deadline
    log: Log
    environment: Mapping[str, str]
    directory: Path
    config: NodeConfig
    node: Node
    step: str = ""

    def say(self, text: str) -> None:
        """Note something under this step's name."""
        self.log.line(text, step=self.step)

    def warn(self, text: str) -> None:
        """Note something that a person should look at, but that stops nothing."""
        self.say(f"WARNING: {text}")
