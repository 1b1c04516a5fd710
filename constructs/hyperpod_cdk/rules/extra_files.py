"""Files of the user's own that are deployed to the nodes."""

from pathlib import Path

from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.spec import HyperPodSpec


def is_missing(spec: HyperPodSpec, name: str) -> bool:
    """Whether a file is surely not among ``lifecycle.extra_files``; not where the folder itself is none.

    Args:
        spec: whose folder it is.
        name: path below the folder.
    """
    folder = spec.lifecycle.extra_files
    if folder is None or unresolved(folder, name) or not Path(folder).is_dir():
        return False
    return not (Path(folder) / name).is_file()
