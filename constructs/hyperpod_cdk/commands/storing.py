"""Writing a new configuration: never over another one, the schema beside it, and what the rules say of it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_cdk.commands.exits import CommandError

if TYPE_CHECKING:
    from hyperpod_cdk.rules import Finding

SCHEMA_FILE = "hyperpod.schema.json"
"""What the first line of a configuration names, for editors."""


def store(path: Path, text: str) -> None:
    """Write a configuration, and the schema into the same folder.

    Raises:
        CommandError: the file is there already, or can not be written.
    """
    from hyperpod_cdk.config import schema

    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
        path.with_name(SCHEMA_FILE).write_text(json.dumps(schema(), indent=2) + "\n", encoding="utf-8")
    except FileExistsError:
        raise CommandError(f"{path} is there already, and is left as it is; choose another name") from None
    except OSError as error:
        if error.filename is None:
            # it was opened, and half of it would be in the way of the next attempt
            path.unlink(missing_ok=True)
        why = (error.strerror or "can not be written").lower()
        raise CommandError(f"{error.filename or path}: {why}") from None


def findings_of(text: str, *, name: str) -> Sequence["Finding"]:
    """What validate would say of a configuration that was just made.

    Args:
        text: YAML.
        name: what findings call it.
    """
    from hyperpod_cdk.config import ConfigError, read_text
    from hyperpod_cdk.rules import check

    try:
        config = read_text(text, file=name)
    except ConfigError as error:
        return error.findings
    return config.placed(check(config.spec))
