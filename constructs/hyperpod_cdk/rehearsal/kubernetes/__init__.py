"""A Kubernetes API in memory that the real helm and kubectl can talk to.

It has the objects, their rules and server-side apply; no controller acts on the objects, and no webhook is
called. Its unknown paths answer 404 and its unknown forms of patches 415, as the real one's do.
"""

from hyperpod_cdk.rehearsal.kubernetes.api import KubernetesApi
from hyperpod_cdk.rehearsal.kubernetes.errors import StatusError
from hyperpod_cdk.rehearsal.kubernetes.requests import Request, Target, User
from hyperpod_cdk.rehearsal.kubernetes.server import ApiServer, Unreachable

__all__ = ["ApiServer", "KubernetesApi", "Request", "StatusError", "Target", "Unreachable", "User"]
