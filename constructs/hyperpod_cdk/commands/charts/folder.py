"""The chart's folder: found in what was given, changed, and put in place at once or not at all."""

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from hyperpod_cdk.commands.charts.errors import ChartError
from hyperpod_cdk.commands.charts.source import INSIDE
from hyperpod_cdk.commands.exits import CommandError

DEFINITION = "Chart.yaml"


@contextmanager
def workplace(output: Path) -> Iterator[Path]:
    """A folder beside the output, on the same file system, that is gone afterwards whatever happens.

    Raises:
        CommandError: it can not be made.
    """
    try:
        folder = tempfile.TemporaryDirectory(prefix=f".{output.name}-", dir=output.resolve().parent)
    except OSError as error:
        raise CommandError(f"{output}: {(error.strerror or 'can not be written').lower()}") from None
    with folder as name:
        yield Path(name)


def refuse_occupied(output: Path, *, force: bool) -> None:
    """See that nothing is lost by putting a chart there.

    Raises:
        CommandError: something is there that may not be replaced.
    """
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    if not (output / DEFINITION).is_file():
        raise CommandError(f"{output} is there already and is no chart, and is left as it is")
    if not force:
        raise CommandError(f"{output} is there already, and is left as it is; --force replaces it")


def find(root: Path) -> Path:
    """The chart below a folder: the folder itself, or within a repository, unpacked or cloned.

    Raises:
        ChartError: there is none.
    """
    inner = [entry for entry in root.iterdir() if entry.is_dir()]
    # archives of tags hold everything below one folder
    for base in [root, *inner] if len(inner) == 1 else [root]:
        for below in INSIDE:
            if (base / below / DEFINITION).is_file():
                return base / below
    places = ", ".join(f"{below or '.'}/{DEFINITION}" for below in INSIDE)
    raise ChartError(f"there is no chart in it: none of {places}")


def place(chart: Path, output: Path) -> None:
    """Move a chart to its place; one that was there is gone only once the new one is."""
    if not output.exists():
        chart.rename(output)
        return
    old = chart.with_name("old")
    output.rename(old)
    try:
        chart.rename(output)
    except BaseException:
        old.rename(output)
        raise
    shutil.rmtree(old)


def described(chart: Path) -> Mapping[str, Any]:
    """What Chart.yaml says.

    Raises:
        ChartError: it says nothing that can be read.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        content = YAML(typ="safe", pure=True).load((chart / DEFINITION).read_text(encoding="utf-8"))
    except (YAMLError, UnicodeDecodeError) as error:
        raise ChartError(f"{DEFINITION} can not be read: {error}") from None
    if not isinstance(content, dict):
        raise ChartError(f"{DEFINITION} holds no mapping")
    return content


def mirrored(chart: Path, mirrors: Mapping[str, str]) -> None:
    """Take dependencies from other repositories.

    Args:
        chart: folder of the chart; its Chart.yaml is changed.
        mirrors: beginnings of addresses, by those that they stand for.

    Raises:
        CommandError: no repository begins so.
    """
    definition = chart / DEFINITION
    text = definition.read_text(encoding="utf-8")
    for there, instead in mirrors.items():
        line = re.compile(rf"(?m)^(\s*(?:- )?repository:\s*[\"']?){re.escape(there)}")
        text, count = line.subn(partial(_instead, instead), text)
        if not count:
            known = {str(one.get("repository")) for one in described(chart).get("dependencies") or ()}
            raise CommandError(
                f"--mirror {there}={instead}: no repository begins so; there are {', '.join(sorted(known))}"
            )
    definition.write_text(text, encoding="utf-8")


def _instead(address: str, found: re.Match[str]) -> str:
    return f"{found[1]}{address}"
