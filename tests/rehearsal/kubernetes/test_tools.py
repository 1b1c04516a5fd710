"""The real helm and kubectl, against the API."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.kubernetes import KubernetesApi, Target, User
from tests.rehearsal.kubernetes.conftest import ADMIN, NOBODY
from tests.rehearsal.kubernetes.samples import Tool, config_map, definition, deployment
from tests.unit.eks.charts import write_chart

Serve = Callable[[KubernetesApi], Tool]
INSTALL = "helm upgrade release {chart} --install --namespace kube-system"


def names(api: KubernetesApi, plural: str, **where: str) -> set[str]:
    return {one["metadata"]["name"] for one in api.objects(plural, **where)}


def test_helm_installs_upgrades_and_uninstalls(api: KubernetesApi, serve: Serve, tmp_path: Path) -> None:
    tool, chart = serve(api), write_chart(tmp_path / "chart")
    install = INSTALL.format(chart=chart)
    assert tool(install).returncode == 0
    assert {"mpi-operator", "health-monitoring-agent"} <= names(api, "configmaps")
    done = tool(f"{install} --set mpi-operator.enabled=false")
    assert done.returncode == 0, done.stderr
    assert "mpi-operator" not in names(api, "configmaps")
    assert json.loads(tool("helm list --namespace kube-system -o json").stdout)[0]["revision"] == "2"
    assert tool("helm rollback release 1 --namespace kube-system").returncode == 0
    assert "mpi-operator" in names(api, "configmaps")
    assert tool("helm uninstall release --namespace kube-system").returncode == 0
    assert names(api, "configmaps") == names(api, "secrets") == set()


def test_helm_makes_a_namespace_and_definitions_first(
    api: KubernetesApi, serve: Serve, tmp_path: Path
) -> None:
    chart = write_chart(tmp_path / "chart")
    (chart / "crds").mkdir()
    (chart / "crds" / "jobs.yaml").write_text(json.dumps(definition()))
    job = {"apiVersion": "example.com/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {}}
    (chart / "templates").mkdir()
    (chart / "templates" / "job.yaml").write_text(json.dumps(job))
    done = serve(api)(f"helm install release {chart} --create-namespace --namespace fresh")
    assert done.returncode == 0, done.stderr
    assert names(api, "jobs", group="example.com", namespace="fresh") == {"j"}


def test_helm_says_what_is_in_the_way(api: KubernetesApi, serve: Serve, tmp_path: Path) -> None:
    api.store.create(
        api.store.kinds.find("", "v1", "configmaps"), config_map("mpi-operator", "kube-system"), manager="me"
    )
    done = serve(api)(INSTALL.format(chart=write_chart(tmp_path / "chart")))
    assert done.returncode == 1
    assert 'ConfigMap "mpi-operator" in namespace "kube-system" exists and cannot be imported' in done.stderr


def test_kubectl_creates_applies_and_deletes(api: KubernetesApi, serve: Serve) -> None:
    tool = serve(api)

    def containers() -> list[dict[str, Any]]:
        (found,) = api.objects("deployments", group="apps")
        items: list[dict[str, Any]] = found["spec"]["template"]["spec"]["containers"]
        return items

    first = json.dumps(deployment(env=[{"name": "A", "value": "1"}]))
    assert tool("kubectl create --save-config -f -", first).returncode == 0
    assert (
        tool("kubectl apply -f -", json.dumps(deployment("two"))).stdout == "deployment.apps/web configured\n"
    )
    assert containers() == [{"name": "main", "image": "two"}], "what is applied no more is taken away"
    assert (
        tool("kubectl apply -f -", json.dumps(deployment("two"))).stdout == "deployment.apps/web unchanged\n"
    )
    patch = '[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"three"}]'
    assert tool(f"kubectl patch deployment/web --type json --patch {patch}").returncode == 0
    assert containers()[0]["image"] == "three"
    assert tool("kubectl scale deployment/web --replicas=3").returncode != 0, "there is no scale"
    assert tool("kubectl delete -f -", json.dumps(deployment())).returncode == 0
    assert names(api, "deployments", group="apps") == set()


def test_kubectl_prunes_what_is_applied_no_more(api: KubernetesApi, serve: Serve) -> None:
    tool = serve(api)

    def labelled(name: str) -> dict[str, Any]:
        one = config_map(name, key="1")
        return {**one, "metadata": {**one["metadata"], "labels": {"prune": "yes"}}}

    both = {"apiVersion": "v1", "kind": "List", "items": [labelled("a"), labelled("b")]}
    tool("kubectl apply -f -", json.dumps(both))
    done = tool("kubectl apply --prune -l prune=yes -f -", json.dumps(labelled("a")))
    assert done.returncode == 0, done.stderr
    assert names(api, "configmaps") == {"a"}


def test_kubectl_uses_kinds_of_definitions(api: KubernetesApi, serve: Serve) -> None:
    tool = serve(api)
    tool("kubectl apply -f -", json.dumps(definition("gadgets", "Gadget")))
    gadget = {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "g"}, "spec": {"a": [1]}}
    assert tool("kubectl apply -f -", json.dumps(gadget)).returncode == 0
    assert tool("kubectl get gadgets -o name").stdout == "gadget.example.com/g\n"
    assert tool("kubectl wait --for=condition=Established crd/gadgets.example.com").returncode == 0


def test_fields_that_kubernetes_does_not_know_are_refused(checked_api: KubernetesApi, serve: Serve) -> None:
    tool = serve(checked_api)
    done = tool("kubectl apply -f -", json.dumps(deployment(imagine="x")))
    assert done.returncode == 1 and "imagine" in done.stderr
    assert tool("kubectl apply -f -", json.dumps(deployment())).returncode == 0


def test_who_is_not_known_gets_nothing(api: KubernetesApi, serve: Serve) -> None:
    done = serve(api)(f"kubectl get namespaces --context {NOBODY}")
    assert done.returncode == 1 and "must be logged in" in done.stderr + done.stdout


@pytest.mark.parametrize("verb", ["get", "create"])
def test_who_may_not_is_told_so(serve: Serve, verb: str) -> None:
    tool = serve(KubernetesApi("1.33", authorize=lambda _user, target: target.verb == "list"))
    done = tool("kubectl get configmap a") if verb == "get" else tool("kubectl create configmap a")
    assert done.returncode == 1
    assert f'User "admin" cannot {verb} resource "configmaps"' in done.stderr


def test_kubectl_makes_what_it_sends_in_binary_form(api: KubernetesApi, serve: Serve) -> None:
    tool = serve(api)
    for command in ("configmap a --from-literal=x=1", "serviceaccount a", "namespace a"):
        done = tool(f"kubectl create {command}")
        assert done.returncode == 0, done.stderr
    (found,) = [one for one in api.objects("configmaps") if one["metadata"]["name"] == "a"]
    assert found["data"] == {"x": "1"}
    told = tool("kubectl create deployment a --image=x").stderr
    assert "of a Deployment; kubectl apply -f sends JSON" in told


def test_kubectl_tells_who_may_do_what(serve: Serve) -> None:
    def may(_: User, wanted: Target) -> bool:
        return wanted.kind.namespaced and wanted.verb in ("get", "list") and wanted.namespace == "team"

    tool = serve(KubernetesApi("1.33", authorize=may))
    answers = {
        asked: tool(f"kubectl auth can-i {asked}").stdout.strip()
        for asked in (
            "list pods -n team",
            "list pods",
            "delete pods -n team",
            "get daemonsets.apps/agent -n team",
            "list nodes",
            "get *",
            "get /metrics",
        )
    }
    assert answers == {
        "list pods -n team": "yes",
        "list pods": "no",
        "delete pods -n team": "no",
        "get daemonsets.apps/agent -n team": "yes",
        "list nodes": "no",
        "get *": "no",
        "get /metrics": "no",
    }
    assert tool("kubectl auth whoami").stdout.split() == ["ATTRIBUTE", "VALUE", "Username", ADMIN]
