"""Paths of values in the user's terms, such as ``cluster.instance_groups[2].instance_type``."""

import json
import re

_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*")
_LAST = re.compile(r'(\[\d+\]|\["(?:[^"\\]|\\.)*"\]|\.?[A-Za-z_][\w-]*)$')


def join(path: str, step: str | int) -> str:
    """The path of a field, key or item below ``path``; keys that are no plain names are quoted."""
    if isinstance(step, int):
        return f"{path}[{step}]"
    if not _PLAIN_KEY.fullmatch(step):
        return f"{path}[{json.dumps(step, ensure_ascii=False)}]"
    return f"{path}.{step}" if path else step


def parent(path: str) -> str:
    """The path of what holds the value at ``path``; of the root, the root."""
    return _LAST.sub("", path)
