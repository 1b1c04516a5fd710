"""plugstack.conf without wildcards, which nodes without files of their own cannot expand (report 109)."""

from __future__ import annotations

import re

from hyperpod_node import slurm
from hyperpod_node.root import Root

PLUGSTACK = f"{slurm.ETC}/plugstack.conf"
INCLUDE = re.compile(r"^\s*include\s+(\S*[*?\[]\S*)\s*$", re.IGNORECASE)


def expand(root: Root) -> bool:
    """Name each included file instead of a pattern, and say whether anything changed."""
    text = root.read(PLUGSTACK)
    lines: list[str] = []
    for line in text.splitlines():
        found = INCLUDE.match(line)
        lines += [f"include {path}" for path in _matches(root, found[1])] if found else [line]
    unique = list(dict.fromkeys(lines))
    whole = "\n".join(unique) + "\n" if unique else ""
    return root.replace(PLUGSTACK, text, whole) if whole != text and text else False


def wildcards(root: Root) -> list[str]:
    """The patterns in it, which nodes without files of their own cannot expand."""
    lines = (INCLUDE.match(line) for line in root.read(PLUGSTACK).splitlines())
    return [found[1] for found in lines if found]


def _matches(root: Root, pattern: str) -> list[str]:
    absolute = pattern if pattern.startswith("/") else f"{slurm.ETC}/{pattern}"
    found = root.path("/").glob(absolute.lstrip("/"))
    return sorted(f"/{path.relative_to(root.path('/'))}" for path in found if path.is_file())
