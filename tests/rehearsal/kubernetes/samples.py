"""Objects and helpers of the tests."""

import subprocess
from collections.abc import Callable
from typing import Any

import kubernetes_validate

Tool = Callable[..., "subprocess.CompletedProcess[str]"]
"""Runs helm or kubectl: (command line, standard input)."""


def schema_faults(document: dict[str, Any]) -> list[str]:
    """What the schemas of Kubernetes do not allow in an object."""
    try:
        kubernetes_validate.validate(document, "1.33", strict=True)
    except kubernetes_validate.ValidationError as error:
        return [error.message]
    return []


def config_map(name: str = "a", namespace: str = "default", **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


def deployment(image: str = "one", **container: Any) -> dict[str, Any]:
    labels = {"app": "web"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": image, **container}]},
            },
        },
    }


def definition(plural: str = "jobs", kind: str = "Job", *, group: str = "example.com") -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }
