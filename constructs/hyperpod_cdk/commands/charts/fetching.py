"""Downloads an archive, tries again where that can help, and unpacks it safely."""

import re
import tarfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from hyperpod_cdk.commands.bundling import PIECE, TIMEOUT_SECONDS
from hyperpod_cdk.commands.charts.errors import ChartError

TRIES = 3
PAUSE_SECONDS = 2.0
_TOO_MANY = 429
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What went wrong in a try, and whether another one can help."""

    text: str
    passing: bool


def download(
    url: str,
    path: Path,
    *,
    say: Callable[[str], None],
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Download a file, over the proxies of the environment (HTTPS_PROXY, NO_PROXY).

    Args:
        url: its address.
        path: where to.
        say: told each line of progress.
        pause: waits some seconds between tries.

    Raises:
        ChartError: it can not be had.
    """
    for number in range(1, TRIES + 1):
        fault = _tried(url, path, say)
        if fault is None:
            return
        if not fault.passing or number == TRIES:
            raise ChartError(
                f"{url}: {fault.text}. Another address goes with --address, a file or folder with --from"
            )
        say(f"{fault.text}; trying again")
        pause(PAUSE_SECONDS * number)


def _tried(url: str, path: Path, say: Callable[[str], None]) -> Fault | None:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer, path.open("wb") as file:
            while piece := answer.read(PIECE):
                file.write(piece)
            wanted = answer.headers.get("Content-Length")
    except urllib.error.HTTPError as error:
        passing = error.code >= HTTPStatus.INTERNAL_SERVER_ERROR or error.code == _TOO_MANY
        return Fault(text=f"HTTP {error.code} {error.reason}", passing=passing)
    except (OSError, ValueError) as error:
        # ValueError: no address at all
        reason = getattr(error, "reason", None) or error
        return Fault(text=str(reason), passing=not isinstance(error, ValueError))
    size = path.stat().st_size
    if wanted is not None and size != int(wanted):
        return Fault(text=f"ended after {size} of {wanted} bytes", passing=True)
    say(f"{url}: {size / 1e6:.1f} MB")
    return None


def unpack(archive: Path, folder: Path) -> str | None:
    """Unpack a zip or tar; the commit that it was made of, where it tells.

    Args:
        archive: the file.
        folder: where to; nothing of the archive gets outside of it.

    Raises:
        ChartError: it is no archive, is damaged, or would write elsewhere.
    """
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(folder)
                return _commit(packed.comment.decode(errors="replace"))
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
            # git archive names the commit in the header that all files share
            return _commit(tar.pax_headers.get("comment", ""))
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError) as error:
        raise ChartError(f"{archive.name}: is no whole zip or tar archive: {error}") from None


def _commit(comment: str) -> str | None:
    return comment if _COMMIT.fullmatch(comment) else None
