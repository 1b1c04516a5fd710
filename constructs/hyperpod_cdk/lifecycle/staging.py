"""The files of a deployment, the same whatever checkout or machine they come from."""

import atexit
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

TEXT_SUFFIXES = frozenset(
    {".sh", ".py", ".json", ".conf", ".cfg", ".txt", ".yaml", ".yml", ".toml", ".service"}
)
"""Files whose lines end in LF on the nodes; so do those that begin with ``#!``."""
LEFT_OUT = frozenset(
    {"__pycache__", ".git", ".DS_Store", ".venv", ".pytest_cache", ".mypy_cache", ".ruff_cache"}
)
LEFT_OUT_OF_SCRIPTS = frozenset({"tests", "README.md", "eks"})
"""Beside the former, of the scripts of the library; a user's files are all taken. A cluster has those of its
orchestrator alone."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_PACKAGE = Path(__file__).resolve().parent.parent


def packaged_scripts() -> Path:
    """Slurm's scripts of the library: in an installed package beside its modules, else in the repository.

    Raises:
        FileNotFoundError: They are in neither place.
    """
    places = [_PACKAGE / "lifecycle_scripts", _PACKAGE.parent.parent / "lifecycle_scripts"]
    for place in places:
        if place.is_dir():
            return place
    raise FileNotFoundError(f"no lifecycle_scripts in {' or '.join(str(place.parent) for place in places)}")


def packaged_eks_scripts() -> Path:
    """The scripts of the library for nodes of Amazon EKS.

    Raises:
        FileNotFoundError: As of `packaged_scripts`.
    """
    return packaged_scripts() / "eks"


def read_tree(root: Path, *, left_out: frozenset[str] = LEFT_OUT) -> dict[str, bytes]:
    """Content of every file under a folder by its path there, with ``/``; text with LF ends.

    Args:
        left_out: Names of files and folders that are passed over, as is compiled Python.

    Raises:
        ValueError: A link leads back to a folder that it lies in.
    """
    return {
        path.relative_to(root).as_posix(): normalised(path.name, path.read_bytes())
        for path in _files(root, left_out)
    }


def normalised(name: str, content: bytes) -> bytes:
    """The content without a byte order mark and with LF ends, if it is text that nodes execute or parse."""
    text = content.removeprefix(BYTE_ORDER_MARK)
    if Path(name).suffix in TEXT_SUFFIXES or text.startswith(b"#!"):
        return text.replace(b"\r\n", b"\n")
    return content


def digest(files: Mapping[str, bytes], *renderings: str) -> str:
    """Hash of files and of further text, whatever order they come in; 16 hexadecimal digits."""
    total = hashlib.sha256()
    parts = [part for path in sorted(files) for part in (path.encode(), files[path])]
    for part in (*parts, *(rendering.encode() for rendering in renderings)):
        total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()[:16]


def staged(files: Mapping[str, bytes]) -> Path:
    """A folder with these files, which lasts as long as the process: CDK may read it as late as in synth."""
    root = Path(tempfile.mkdtemp(prefix="hyperpod-cdk-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return root


def _files(root: Path, left_out: frozenset[str]) -> Iterator[Path]:
    # Links to folders are followed: S3 has no links.
    for folder, folders, names in os.walk(root, followlinks=True):
        folders[:] = sorted(set(folders) - left_out)
        for name in folders:
            if Path(folder).resolve().is_relative_to((Path(folder) / name).resolve()):
                raise ValueError(f"link {Path(folder) / name} leads back to a folder that it lies in")
        for name in sorted(names):
            if name not in left_out and not name.endswith(".pyc"):
                yield Path(folder) / name
