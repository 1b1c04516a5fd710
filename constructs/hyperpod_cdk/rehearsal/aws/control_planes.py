"""The Kubernetes APIs of all EKS clusters, served to whoever has a token and a way to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hyperpod_cdk.rehearsal import eks
from hyperpod_cdk.rehearsal.eks import AmazonEks, Cluster
from hyperpod_cdk.rehearsal.eks.authentication import caller, require_way, user_of
from hyperpod_cdk.rehearsal.eks.authorization import may
from hyperpod_cdk.rehearsal.kubernetes import ApiServer, KubernetesApi, StatusError, User


class ControlPlanes:
    """Finds the cluster behind an address, and the user behind a token.

    Args:
        speed: how much faster than real time clusters live.
    """

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._server = ApiServer(self._enter)
        self._services: list[AmazonEks] = []

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

    def _enter(self, name: str, token: str) -> tuple[KubernetesApi, User]:
        service, cluster = self._find(name)
        service.catch_up()
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
def control_planes_served(*, speed: float) -> Iterator[None]:
    """Let Amazon EKS answer, and Kubernetes in each of its clusters.

    Args:
        speed: how much faster than real time clusters live.
    """
    planes = ControlPlanes(speed)
    planes.start()
    try:
        with eks.served(planes.prepare):
            yield
    finally:
        planes.stop()
