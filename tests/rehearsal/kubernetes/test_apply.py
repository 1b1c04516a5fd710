"""Server-side apply: whose a field is."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.rehearsal.kubernetes.samples import definition, deployment

Ask = Callable[..., tuple[int, dict[str, Any]]]
PATH = "/apis/apps/v1/namespaces/default/deployments/web"


@pytest.fixture
def apply(ask: Ask) -> Callable[..., tuple[int, dict[str, Any]]]:
    def send(
        document: dict[str, Any], manager: str, *, path: str = PATH, **query: str
    ) -> tuple[int, dict[str, Any]]:
        more = {"fieldManager": manager, **query}
        return ask("PATCH", path, document, media_type="application/apply-patch+yaml", query=more)

    return send


Apply = Callable[..., tuple[int, dict[str, Any]]]


def main(document: dict[str, Any]) -> dict[str, Any]:
    container: dict[str, Any] = document["spec"]["template"]["spec"]["containers"][0]
    return container


def test_what_is_applied_no_more_is_taken_away(apply: Apply) -> None:
    assert apply(deployment(env=[{"name": "A", "value": "1"}], workingDir="/x"), "helm")[0] == 201
    code, changed = apply(deployment("two"), "helm")
    assert (code, main(changed)) == (200, {"name": "main", "image": "two"})


def test_what_others_have_set_stays(apply: Apply, ask: Ask) -> None:
    apply(deployment(), "helm")
    scaled = {"spec": {"replicas": 3}}
    ask(
        "PATCH",
        PATH,
        scaled,
        media_type="application/strategic-merge-patch+json",
        query={"fieldManager": "me"},
    )
    _, changed = apply(deployment("two"), "helm")
    assert (changed["spec"]["replicas"], main(changed)["image"]) == (3, "two")


def test_an_item_of_anothers_stays_beside_ours(apply: Apply) -> None:
    both = deployment()
    side = {"name": "side", "image": "proxy"}
    both["spec"]["template"]["spec"]["containers"] = [side]
    apply(deployment(), "helm")
    _, changed = apply(both, "mesh")
    assert [c["name"] for c in changed["spec"]["template"]["spec"]["containers"]] == ["main", "side"]
    without: dict[str, Any] = deployment()
    del without["spec"]["template"]["spec"]["containers"]
    _, changed = apply(without, "mesh")
    assert [c["name"] for c in changed["spec"]["template"]["spec"]["containers"]] == ["main"]


def test_a_field_of_anothers_is_refused_unless_forced(apply: Apply) -> None:
    apply(deployment("one"), "helm")
    code, status = apply(deployment("two"), "kubectl")
    assert (code, status["reason"]) == (409, "Conflict")
    assert 'conflict with "helm"' in status["message"]
    assert '.spec.template.spec.containers[name="main"].image' in status["message"]
    code, changed = apply(deployment("two"), "kubectl", force="true")
    assert (code, main(changed)["image"]) == (200, "two")
    assert apply(deployment("three"), "helm")[0] == 409, "it is kubectl's now"


def test_the_same_value_is_no_conflict(apply: Apply) -> None:
    apply(deployment("one"), "helm")
    assert apply(deployment("one"), "kubectl")[0] == 200


def test_lists_of_custom_kinds_are_one_value(apply: Apply, ask: Ask) -> None:
    ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition())
    path = "/apis/example.com/v1/namespaces/default/jobs/j"

    def job(*containers: str) -> dict[str, Any]:
        items = [{"name": name} for name in containers]
        return {"apiVersion": "example.com/v1", "kind": "Job", "spec": {"containers": items}}

    apply(job("a", "b"), "helm", path=path)
    _, changed = apply(job("b"), "helm", path=path)
    assert changed["spec"]["containers"] == [{"name": "b"}]
    code, _ = ask("PATCH", path, {}, media_type="application/strategic-merge-patch+json")
    assert code == 415, "as the real one"


def test_a_manager_is_needed(ask: Ask) -> None:
    code, status = ask("PATCH", PATH, deployment(), media_type="application/apply-patch+yaml")
    assert (code, status["reason"]) == (400, "BadRequest")
