"""A job as a YAML document. Needs the extra ``cli``, which the rest of this package does not."""

from io import StringIO

from ruamel.yaml import YAML

from hyperpod_cdk.jobs.job import HyperPodPyTorchJob
from hyperpod_cdk.jobs.manifest import to_manifest


def to_yaml(job: HyperPodPyTorchJob) -> str:
    """The text for ``kubectl apply -f``."""
    text = StringIO()
    yaml = YAML()
    yaml.width = 100
    yaml.dump(to_manifest(job), text)
    return text.getvalue()
