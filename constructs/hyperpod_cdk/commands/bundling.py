"""Gathers what nodes would download: each file under its own checksum, so that no version hides another."""

import hashlib
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from hyperpod_cdk.rules.needed_downloads import artifacts, processors
from hyperpod_cdk.service.downloads import Artifact
from hyperpod_cdk.spec import HyperPodSpec

PIECE = 1 << 20
TIMEOUT_SECONDS = 60

Opener = Callable[[str], Any]
"""Opens an address; what comes back is a context manager with ``read(size)``."""


class Target(Protocol):
    """Where the files go."""

    def has(self, artifact: Artifact) -> bool:
        """Whether the file is there already."""

    def put(self, artifact: Artifact, path: Path) -> None:
        """Take a file whose content is right."""


class Folder:
    """A folder, to be deployed with the stack or carried elsewhere."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def has(self, artifact: Artifact) -> bool:
        """Whether the file is there, and what it should be."""
        path = self._path(artifact)
        return path.is_file() and digest(path) == artifact.sha256

    def put(self, artifact: Artifact, path: Path) -> None:
        """Move the file in."""
        target = self._path(artifact)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())

    def _path(self, artifact: Artifact) -> Path:
        return self._root / artifact.sha256 / artifact.file


class Bucket:
    """A prefix of a bucket.

    Args:
        uri: ``s3://bucket/prefix``.
        client: S3 client of botocore.
    """

    def __init__(self, uri: str, client: Any) -> None:
        place = urlsplit(uri)
        self._bucket, self._prefix, self._client = place.netloc, place.path.strip("/"), client

    def has(self, artifact: Artifact) -> bool:
        """Whether there is an object of the name; its name says what it is."""
        from botocore.exceptions import ClientError

        try:
            self._client.head_object(Bucket=self._bucket, Key=self._key(artifact))
        except ClientError as error:
            # 403: the same, to those who may not list the bucket
            if error.response["Error"]["Code"] not in ("404", "403"):
                raise
            return False
        return True

    def put(self, artifact: Artifact, path: Path) -> None:
        """Upload the file; S3 checks that it arrives whole."""
        with path.open("rb") as file:
            self._client.put_object(
                Bucket=self._bucket, Key=self._key(artifact), Body=file, ChecksumAlgorithm="SHA256"
            )

    def _key(self, artifact: Artifact) -> str:
        return "/".join(filter(None, [self._prefix, artifact.sha256, artifact.file]))


def needed(spec: HyperPodSpec) -> Mapping[str, Artifact]:
    """What the nodes of a spec may ask for, by name, for the processors that they have."""
    wanted = tuple(f"-{one}" for one in processors(spec.cluster))
    return {name: one for name, one in artifacts(spec.lifecycle).items() if name.endswith(wanted)}


def gather(
    wanted: Mapping[str, Artifact],
    target: Target,
    folder: Path,
    *,
    say: Callable[[str], None],
    opened: Opener | None = None,
) -> list[str]:
    """Bring everything to a target that it has not got, and say what could not be downloaded.

    Args:
        wanted: by name.
        target: where to.
        folder: for files on their way.
        say: told a line for each of them.
        opened: opens an address. Default: urllib's, over proxies of the environment.
    """
    faults = []
    for name, artifact in wanted.items():
        if target.has(artifact):
            say(f"{name}: there already")
            continue
        try:
            path = download(artifact, folder, opened or _open)
        except (OSError, HTTPException, ValueError) as error:
            faults.append(f"{name}: {artifact.url}: {error}")
            continue
        target.put(artifact, path)
        say(f"{name}: {artifact.file}, {path.stat().st_size / 1e6:.1f} MB")
        path.unlink()
    return faults


def download(artifact: Artifact, folder: Path, opened: Opener) -> Path:
    """Download a file and check it.

    Raises:
        OSError: it can not be downloaded.
        ValueError: it is something else.
    """
    path = folder / artifact.file
    with opened(artifact.url) as answer, path.open("wb") as file:
        while piece := answer.read(PIECE):
            file.write(piece)
    found = digest(path)
    if found != artifact.sha256:
        path.unlink()
        raise ValueError(f"sha256 is {found} instead of {artifact.sha256}: nothing of it was used")
    return path


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    total = hashlib.sha256()
    with path.open("rb") as file:
        for piece in _pieces(file):
            total.update(piece)
    return total.hexdigest()


def _pieces(file: Any) -> Iterable[bytes]:
    while piece := file.read(PIECE):
        yield piece


def _open(url: str) -> Any:
    return urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS)
