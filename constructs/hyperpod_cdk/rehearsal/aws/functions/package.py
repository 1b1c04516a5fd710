"""A function's code and layers, unpacked where local processes can run them."""

from __future__ import annotations

import hashlib
import io
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

TASK_ROOT = "/var/task"
"""Where Lambda mounts code and layers. Nothing can be mounted there without privileges, so paths that code
spells out (BucketDeployment calls /opt/awscli/aws) are rewritten in the unpacked copy."""
LAYER_ROOT = "/opt"

_TEXT = frozenset({".py", ".js", ".cjs", ".mjs", ".sh"})
_LAMBDA_PYTHON = b"#!/var/lang/bin/python"
"""The interpreter inside Lambda's images, named by the scripts of CDK's AWS CLI layer."""


@dataclass(frozen=True, kw_only=True)
class Package:
    """Unpacked code.

    Args:
        code: The folder that stands for /var/task.
        layers: The folder that stands for /opt; None for a function without layers.
    """

    code: Path
    layers: Path | None

    def translate(self, text: str) -> str:
        """Replace Lambda's paths in an environment variable by where they are here."""
        text = text.replace(TASK_ROOT, str(self.code))
        if self.layers is not None and text.startswith(LAYER_ROOT):
            text = str(self.layers) + text.removeprefix(LAYER_ROOT)
        return text


class PackageStore:
    """Unpacks each archive once, under a name made from its content.

    Args:
        root: A folder of its own; whoever made it removes it.
        node_modules: Node packages that Lambda's Node.js runtime brings along (the AWS SDK), linked beside
            the code of every function; None where there are none.
    """

    def __init__(self, root: Path, *, node_modules: Path | None) -> None:
        self._root = root
        self._node_modules = node_modules
        self._lock = Lock()
        self._closed = False

    def close(self) -> None:
        """Wait for what is being unpacked; nothing is afterwards, or it would make a removed folder anew."""
        with self._lock:
            self._closed = True

    def unpack(self, code: bytes, layers: Sequence[bytes]) -> Package:
        """Give the unpacked form of a function's archives, layers in the order of the function's list.

        Raises:
            RuntimeError: it is closed.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError("the embedded AWS has stopped")
            opt = self._layers(layers) if layers else None
            name = hashlib.sha256(code + str(opt).encode()).hexdigest()[:16]
            folder = self._root / "code" / name
            if not folder.exists():
                _extract(code, folder)
                self._link_node_modules(folder)
                if opt is not None:
                    _rewrite(folder, f"{LAYER_ROOT}/", f"{opt}/")
            return Package(code=folder, layers=opt)

    def _layers(self, layers: Sequence[bytes]) -> Path:
        digest = hashlib.sha256(b"".join(hashlib.sha256(layer).digest() for layer in layers))
        folder = self._root / "opt" / digest.hexdigest()[:16]
        if not folder.exists():
            for layer in layers:
                _extract(layer, folder)
            _use_our_python(folder)
        return folder

    def _link_node_modules(self, folder: Path) -> None:
        link = folder / "node_modules"
        if self._node_modules is not None and not link.exists():
            link.symlink_to(self._node_modules, target_is_directory=True)


def _extract(archive: bytes, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        for entry in files.infolist():
            path = Path(files.extract(entry, folder))
            mode = entry.external_attr >> 16
            # zipfile drops permissions; a layer's commands must stay executable.
            if mode and path.is_file():
                path.chmod(mode | 0o600)


def _rewrite(folder: Path, old: str, new: str) -> None:
    for path in folder.rglob("*"):
        if path.suffix in _TEXT and path.is_file() and not path.is_symlink():
            text = path.read_text(encoding="utf-8")
            if old in text:
                path.write_text(text.replace(old, new), encoding="utf-8")


def _use_our_python(folder: Path) -> None:
    for path in folder.glob("*/*"):
        if path.is_file() and path.read_bytes().startswith(_LAMBDA_PYTHON):
            script = path.read_bytes().split(b"\n", 1)[1]
            path.write_bytes(f"#!{sys.executable}\n".encode() + script)
