"""Which kinds of objects there are: those of Kubernetes itself, and those that definitions add."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.rehearsal.kubernetes.errors import no_such_page


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind in one version.

    Args:
        group: of the API; empty for the core group.
        version: of the group.
        kind: such as ``DaemonSet``.
        plural: as in paths, such as ``daemonsets``.
        namespaced: whether its objects lie in a namespace.
        short_names: what people may write instead.
        custom: whether a CustomResourceDefinition made it.
    """

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    custom: bool = False

    @property
    def api_version(self) -> str:
        """``apiVersion`` of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """Its name in messages and in rules of access: plural and group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


def _kinds(group_version: str, names: str, *, namespaced: bool = True) -> Iterator[Kind]:
    group, _, version = group_version.rpartition("/")
    for name in names.split():
        kind, *short = name.split(",")
        plural = kind.lower()
        plural = (
            plural[:-1] + "ies" if plural.endswith("y") else plural + ("es" if plural[-1] == "s" else "s")
        )
        yield Kind(
            group=group,
            version=version,
            kind=kind,
            plural="endpoints" if kind == "Endpoints" else plural,
            namespaced=namespaced,
            short_names=tuple(short),
        )


# https://kubernetes.io/docs/reference/kubernetes-api/ (1.33): what charts and clusters are commonly made of
BUILT_IN: tuple[Kind, ...] = (
    *_kinds("v1", "Namespace,ns Node,no PersistentVolume,pv", namespaced=False),
    *_kinds(
        "v1",
        "ConfigMap,cm Endpoints,ep Event,ev LimitRange,limits PersistentVolumeClaim,pvc Pod,po PodTemplate "
        "ReplicationController,rc ResourceQuota,quota Secret Service,svc ServiceAccount,sa",
    ),
    *_kinds("apps/v1", "ControllerRevision DaemonSet,ds Deployment,deploy ReplicaSet,rs StatefulSet,sts"),
    *_kinds("batch/v1", "CronJob,cj Job"),
    *_kinds("autoscaling/v2", "HorizontalPodAutoscaler,hpa"),
    *_kinds("coordination.k8s.io/v1", "Lease"),
    *_kinds("discovery.k8s.io/v1", "EndpointSlice"),
    *_kinds("networking.k8s.io/v1", "Ingress,ing NetworkPolicy,netpol"),
    *_kinds("networking.k8s.io/v1", "IngressClass", namespaced=False),
    *_kinds("policy/v1", "PodDisruptionBudget,pdb"),
    *_kinds("rbac.authorization.k8s.io/v1", "Role RoleBinding"),
    *_kinds("rbac.authorization.k8s.io/v1", "ClusterRole ClusterRoleBinding", namespaced=False),
    *_kinds("storage.k8s.io/v1", "CSIStorageCapacity"),
    *_kinds("storage.k8s.io/v1", "CSIDriver CSINode StorageClass,sc VolumeAttachment", namespaced=False),
    *_kinds(
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding "
        "ValidatingWebhookConfiguration",
        namespaced=False,
    ),
    *_kinds("apiextensions.k8s.io/v1", "CustomResourceDefinition,crd,crds", namespaced=False),
    *_kinds("apiregistration.k8s.io/v1", "APIService", namespaced=False),
    *_kinds("node.k8s.io/v1", "RuntimeClass", namespaced=False),
    *_kinds("scheduling.k8s.io/v1", "PriorityClass,pc", namespaced=False),
)


class Kinds:
    """The kinds that an API serves at the moment."""

    def __init__(self) -> None:
        self._by_path = {(kind.group, kind.version, kind.plural): kind for kind in BUILT_IN}

    def __iter__(self) -> Iterator[Kind]:
        return iter(tuple(self._by_path.values()))

    def find(self, group: str, version: str, plural: str) -> Kind:
        """Give the kind that a path names.

        Raises:
            StatusError: there is none.
        """
        found = self._by_path.get((group, version, plural))
        if found is None:
            raise no_such_page()
        return found

    def of(self, definition: Mapping[str, Any]) -> list[Kind]:
        """Give the kinds that a CustomResourceDefinition makes, one a version that is served."""
        spec = definition["spec"]
        return [
            Kind(
                group=spec["group"],
                version=version["name"],
                kind=spec["names"]["kind"],
                plural=spec["names"]["plural"],
                namespaced=spec["scope"] == "Namespaced",
                short_names=tuple(spec["names"].get("shortNames", ())),
                custom=True,
            )
            for version in spec["versions"]
            if version.get("served", True)
        ]

    def add(self, definition: Mapping[str, Any]) -> None:
        """Serve the kinds of a CustomResourceDefinition."""
        for kind in self.of(definition):
            self._by_path[kind.group, kind.version, kind.plural] = kind

    def remove(self, definition: Mapping[str, Any]) -> list[Kind]:
        """Serve the kinds of a CustomResourceDefinition no longer; gives them."""
        gone = self.of(definition)
        for kind in gone:
            self._by_path.pop((kind.group, kind.version, kind.plural), None)
        return gone
