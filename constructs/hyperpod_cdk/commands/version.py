"""Which hyperpod-cdk this is."""

DISTRIBUTION = "hyperpod-cdk"
"""The package's name where packages are listed."""


def version() -> str:
    """The installed version; ``0`` when it runs from its sources without being installed."""
    from importlib import metadata

    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "0"
