"""The Kubernetes APIs of all EKS clusters, served to whoever has a token and a way to them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from hyperpod_cdk.rehearsal import eks
from hyperpod_cdk.rehearsal.eks import AmazonEks, Cluster
from hyperpod_cdk.rehearsal.eks.authentication import caller, require_way, user_of
from hyperpod_cdk.rehearsal.eks.authorization import MASTERS, may
from hyperpod_cdk.rehearsal.kubernetes import ApiServer, KubernetesApi, StatusError, User

_ADMINISTRATOR = User(name="rehearsal", groups=(MASTERS,))


class ControlPlanes:
    """Finds the cluster behind an address, and the user behind a token.

    Args:
        speed: how much faster than real time clusters live.
    """

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._server = ApiServer(self._enter)
        self._services: list[AmazonEks] = []
        self._key = secrets.token_urlsafe()

    def start(self) -> None:
        """Serve in a background thread."""
        self._server.start()

    def stop(self) -> None:
        """Stop serving."""
        self._server.stop()

    def prepare(self, service: AmazonEks) -> None:
        """Serve the clusters of an account and Region."""
        service.clock.speed = self._speed
        service.serve = lambda name: (self._server.endpoint(name), self._server.authority)
        service.authorize = may
        self._services.append(service)

    def kubeconfig(self, cluster: Cluster) -> str:
        """Give a kubeconfig of somebody inside the VPC who may do everything; valid while this serves.

        Args:
            cluster: whose Kubernetes.
        """
        name, about = str(cluster.name), cluster.about
        server = {
            "server": about["endpoint"],
            "certificate-authority-data": about["certificateAuthority"]["data"],
        }
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": server}],
            "users": [{"name": _ADMINISTRATOR.name, "user": {"token": self._key}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": _ADMINISTRATOR.name}}],
            "current-context": name,
        }
        return json.dumps(document, indent=2)

    def _enter(self, name: str, token: str) -> tuple[KubernetesApi, User]:
        service, cluster = self._find(name)
        service.catch_up()
        if secrets.compare_digest(token.encode(), self._key.encode()):
            return cluster.api, _ADMINISTRATOR
        who = caller(service, token)
        require_way(service, cluster, who)
        return cluster.api, user_of(cluster, who)

    def _find(self, name: str) -> tuple[AmazonEks, Cluster]:
        for service in self._services:
            for cluster in service.clusters.values():
                if str(cluster.about.get("endpoint", "")).endswith(f"/{name}"):
                    return service, cluster
        raise StatusError(404, "NotFound", "no cluster is served here")


@contextmanager
def control_planes_served(*, speed: float) -> Iterator[ControlPlanes]:
    """Let Amazon EKS answer, and Kubernetes in each of its clusters.

    Args:
        speed: how much faster than real time clusters live.
    """
    planes = ControlPlanes(speed)
    planes.start()
    try:
        with eks.served(planes.prepare):
            yield planes
    finally:
        planes.stop()
