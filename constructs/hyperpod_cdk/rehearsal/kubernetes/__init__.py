"""A Kubernetes API in memory that the real helm and kubectl can talk to.

It has the objects, their rules, every form of patch and server-side apply; no controller acts on the objects,
no webhook is called, and of subresources there is only status. What it does not have answers 404 or 415.
"""

from hyperpod_cdk.rehearsal.kubernetes.api import KubernetesApi
from hyperpod_cdk.rehearsal.kubernetes.errors import StatusError
from hyperpod_cdk.rehearsal.kubernetes.requests import Request, Target, User
from hyperpod_cdk.rehearsal.kubernetes.server import ApiServer, Unreachable

__all__ = ["ApiServer", "KubernetesApi", "Request", "StatusError", "Target", "Unreachable", "User"]
