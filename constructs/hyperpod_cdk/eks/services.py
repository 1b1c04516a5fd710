"""EksServices: what runs on a cluster beside training: storage, metrics, models."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_kms as kms
from constructs import Construct, IDependable

from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.eks.add_ons import CERTIFICATES, DNS, POD_IDENTITY, add_on
from hyperpod_cdk.eks.control_plane import EksControlPlane, ExistingControlPlane
from hyperpod_cdk.eks.identities import OidcProvider
from hyperpod_cdk.eks.inference import Inference
from hyperpod_cdk.eks.observability import Observability
from hyperpod_cdk.eks.storage_drivers import LustreDriver, MountpointDriver, bucket_volumes
from hyperpod_cdk.eks.volumes import Volumes
from hyperpod_cdk.faults import refuse
from hyperpod_cdk.network import IHyperPodNetwork
from hyperpod_cdk.service.eks_add_ons import FSX_LUSTRE, METRICS_SERVER, MOUNTPOINT_S3
from hyperpod_cdk.spec import EksOrchestrator
from hyperpod_cdk.spec import eks_inference as inference_spec
from hyperpod_cdk.spec.eks_storage import BucketVolume, Volume
from hyperpod_cdk.storage import IStorage


class EksServices(Construct):
    """Drivers, volumes, observability and inference, as far as the orchestrator asks for them, in order.

    Drivers and the metrics server run on system nodes and wait for those alone; what runs on HyperPod nodes
    waits for the HyperPod cluster; nothing of all this stands before it (field report 129). On an existing
    control plane drivers, certificates and the metrics server are its owner's.

    Args:
        orchestrator: what is asked for.
        control_plane: that it is for.
        cluster_arn: of the HyperPod cluster.
        depends_on: the HyperPod cluster; and the add-on of task governance, whose webhook refuses pods before
            it is ready.
        network: of the nodes.
        storage: file systems, by their keys in the spec. Default: none.
        encryption_key: of metrics. Default: a key of the service.

    Raises:
        ConstructError: an existing control plane is asked for what only its owner can give.
    """

    @checked_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        orchestrator: EksOrchestrator,
        control_plane: EksControlPlane | ExistingControlPlane,
        cluster_arn: str,
        depends_on: Sequence[IDependable],
        network: IHyperPodNetwork,
        storage: Mapping[str, IStorage] | None = None,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._orchestrator = orchestrator
        self._storage = storage or {}
        ours = control_plane if isinstance(control_plane, EksControlPlane) else None
        refuse(self.node.path, [] if ours else _not_ours(orchestrator))
        self.needed: list[IDependable] = self._dependencies(ours) if ours else []
        """What the inference add-on looks for."""
        self.volumes: Volumes | None = None
        self.observability: Observability | None = None
        self.inference: Inference | None = None
        if ours and orchestrator.volumes:
            self.volumes = Volumes(
                self,
                "Volumes",
                cluster=ours.cluster,
                volumes=orchestrator.volumes,
                storage=self._storage,
                depends_on=depends_on if _waits_for_namespaces(orchestrator) else (),
            )
        identities = [ours.add_ons[POD_IDENTITY]] if ours else []
        if orchestrator.observability is not None:
            self.observability = Observability(
                self,
                "Observability",
                cluster_name=control_plane.cluster_name,
                settings=orchestrator.observability,
                depends_on=[*depends_on, *identities],
                network=network,
                encryption_key=encryption_key,
            )
        if orchestrator.inference is not None:
            self.inference = Inference(
                self,
                "Inference",
                cluster_name=control_plane.cluster_name,
                cluster_arn=cluster_arn,
                provider=ours.oidc_provider if ours else _given_provider(orchestrator),
                settings=orchestrator.inference,
                depends_on=[*depends_on, *self.needed],
                network=network,
            )

    def _dependencies(self, plane: EksControlPlane) -> list[IDependable]:
        """Drivers for what is mounted, and all that inference looks for."""
        orchestrator = self._orchestrator
        settings, inference = orchestrator.add_ons, orchestrator.inference
        volumes = orchestrator.volumes.values()
        buckets = [*bucket_volumes(volumes), *_model_buckets(inference)]
        on_nodes = [plane.add_ons[DNS]]
        made: list[IDependable] = []
        if inference is not None or any(map(self._is_lustre, volumes)):
            made.append(
                LustreDriver(
                    self,
                    "LustreDriver",
                    cluster_name=plane.cluster_name,
                    settings=settings.get(FSX_LUSTRE),
                    depends_on=[*on_nodes, plane.add_ons[POD_IDENTITY]],
                ).add_on
            )
        if inference is not None or buckets:
            made.append(
                MountpointDriver(
                    self,
                    "MountpointDriver",
                    cluster_name=plane.cluster_name,
                    provider=plane.oidc_provider,
                    buckets=buckets,
                    settings=settings.get(MOUNTPOINT_S3),
                    depends_on=on_nodes,
                ).add_on
            )
        if inference is not None:
            server = add_on(
                self,
                METRICS_SERVER,
                cluster_name=plane.cluster_name,
                settings=settings.get(METRICS_SERVER),
                depends_on=on_nodes,
            )
            made += [server, plane.add_ons[CERTIFICATES]]
        return made

    def _is_lustre(self, volume: Volume) -> bool:
        found = self._storage.get(volume.storage or "")
        return found is not None and found.mount().mount_name is not None


def _model_buckets(inference: inference_spec.Inference | None) -> list[tuple[BucketVolume, bool]]:
    names = inference.model_buckets if inference is not None else ()
    return [(BucketVolume(bucket_name=name), False) for name in names]


def _waits_for_namespaces(orchestrator: EksOrchestrator) -> bool:
    """Whether a claim is in a namespace that task governance makes for a team."""
    used = {namespace for volume in orchestrator.volumes.values() for namespace in volume.namespaces}
    return orchestrator.task_governance is not None and used != {"default"}


def _given_provider(orchestrator: EksOrchestrator) -> OidcProvider:
    return OidcProvider.of_arn(orchestrator.oidc_provider_arn or "")


def _not_ours(orchestrator: EksOrchestrator) -> list[str]:
    faults = []
    if orchestrator.volumes:
        faults.append("volumes are applied with kubectl, which an existing control plane's owner has")
    if orchestrator.inference is not None and orchestrator.oidc_provider_arn is None:
        faults.append("inference on an existing control plane needs oidc_provider_arn")
    return faults
