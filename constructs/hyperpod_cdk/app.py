"""The CDK app that `cdk.json` runs: one YAML file, one stack."""

import os
import sys
from pathlib import Path

from hyperpod_cdk.config import Config, ConfigError, read
from hyperpod_cdk.rules import check, errors
from hyperpod_cdk.toolchain import use_packaged_node

DEFAULT_CONFIG = "clusters/slurm-minimal.yaml"
EXIT_WRONG_INPUT = 2


def main() -> None:
    """Synthesize the stack of the configuration in CDK context `config`, or else in HYPERPOD_CONFIG."""
    use_packaged_node()
    # aws_cdk starts Node when it is imported
    import aws_cdk as cdk

    from hyperpod_cdk.stack import HyperPodStack

    app = cdk.App()
    chosen = app.node.try_get_context("config") or os.environ.get("HYPERPOD_CONFIG") or DEFAULT_CONFIG
    config = _read(Path(chosen))
    HyperPodStack(
        app,
        config.spec.stack_name or "HyperPod",
        spec=config.spec,
        placed=config.placed,
        env=cdk.Environment(
            account=os.environ.get("CDK_DEFAULT_ACCOUNT"),
            region=config.spec.region or os.environ.get("CDK_DEFAULT_REGION"),
        ),
    )
    app.synth()


def _read(path: Path) -> Config:
    """The configuration; ends the program with every fault at its place when there are any."""
    try:
        config = read(path)
    except ConfigError as error:
        sys.exit(_refused(str(error)))
    findings = config.placed(check(config.spec))
    if errors(findings):
        sys.exit(_refused("\n".join(map(str, findings))))
    return config


def _refused(text: str) -> int:
    print(text, file=sys.stderr)
    return EXIT_WRONG_INPUT
