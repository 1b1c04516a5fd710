"""Shapes of the API models by name, with patterns that Python understands."""

import re
from functools import cache

from botocore.loaders import create_loader
from botocore.model import ServiceModel, Shape

from hyperpod_cdk.service.api_model import service_model

# Unicode classes that Python's re does not know; \w also takes "_", which every pattern with \p allows
_CLASSES = {
    r"\p{L}": r"\w",
    r"\p{N}": r"\w",
    r"\p{Z}": " \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000",
}


def shape(service: str, name: str) -> Shape:
    """A shape of the ``sagemaker`` (cluster operations only) or ``fsx`` API."""
    return _model(service).shape_for(name)


@cache
def pattern(text: str) -> re.Pattern[str]:
    """The compiled form of a model's pattern; match it against the whole value."""
    for theirs, ours in _CLASSES.items():
        text = text.replace(theirs, ours)
    return re.compile(text)


@cache
def _model(service: str) -> ServiceModel:
    if service == "sagemaker":
        return service_model()
    return ServiceModel(create_loader().load_service_model(service, "service-2"), service)
