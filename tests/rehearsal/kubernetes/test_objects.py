"""What holds for every object: names, namespaces, versions, and what goes with what."""

from collections.abc import Callable
from typing import Any

from tests.rehearsal.kubernetes.samples import config_map, definition

Ask = Callable[..., tuple[int, dict[str, Any]]]
MAPS = "/api/v1/namespaces/default/configmaps"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}


def reason(answer: tuple[int, dict[str, Any]]) -> tuple[int, str]:
    code, status = answer
    return code, status["reason"]


def test_a_life(ask: Ask) -> None:
    code, made = ask("POST", MAPS, config_map(key="1"))
    assert (code, made["metadata"]["generation"]) == (201, 1)
    made["data"]["key"] = "2"
    code, changed = ask("PUT", f"{MAPS}/a", made)
    assert (code, changed["data"], changed["metadata"]["generation"]) == (200, {"key": "2"}, 2)
    assert changed["metadata"]["uid"] == made["metadata"]["uid"]
    assert int(changed["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])
    assert [item["metadata"]["name"] for item in ask("GET", MAPS)[1]["items"]] == ["a"]
    assert ask("DELETE", f"{MAPS}/a")[1]["status"] == "Success"
    assert reason(ask("GET", f"{MAPS}/a")) == (404, "NotFound")


def test_an_update_of_an_old_version_is_refused(ask: Ask) -> None:
    _, first = ask("POST", MAPS, config_map(key="1"))
    ask("PUT", f"{MAPS}/a", {**first, "data": {"key": "2"}})
    assert reason(ask("PUT", f"{MAPS}/a", {**first, "data": {"key": "3"}})) == (409, "Conflict")


def test_an_update_that_changes_nothing_makes_no_version(ask: Ask) -> None:
    _, first = ask("POST", MAPS, config_map(key="1"))
    assert ask("PUT", f"{MAPS}/a", first)[1]["metadata"] == first["metadata"]


def test_refused(ask: Ask) -> None:
    ask("POST", MAPS, config_map())
    refusals = {
        "taken": (ask("POST", MAPS, config_map()), (409, "AlreadyExists")),
        "no namespace": (
            ask("POST", "/api/v1/namespaces/none/configmaps", config_map(namespace="none")),
            (404, "NotFound"),
        ),
        "another namespace": (ask("POST", MAPS, config_map("b", "kube-system")), (400, "BadRequest")),
        "no name": (ask("POST", MAPS, {"apiVersion": "v1", "kind": "ConfigMap"}), (422, "Invalid")),
        "another kind": (ask("POST", MAPS, {**config_map("b"), "kind": "Secret"}), (422, "Invalid")),
        "no such kind": (ask("GET", "/api/v1/namespaces/default/gadgets"), (404, "NotFound")),
        "no such group": (ask("GET", "/apis/example.com/v1/jobs"), (404, "NotFound")),
        "no such page": (ask("GET", "/metrics"), (404, "NotFound")),
        "no method": (ask("OPTIONS", MAPS), (405, "MethodNotAllowed")),
        "no JSON": (ask("POST", MAPS, media_type="text/html"), (415, "UnsupportedMediaType")),
    }
    assert {name: reason(answer) for name, (answer, _) in refusals.items()} == {
        name: wanted for name, (_, wanted) in refusals.items()
    }


def test_what_lies_in_a_namespace_goes_with_it(ask: Ask) -> None:
    ask("POST", "/api/v1/namespaces", NAMESPACE)
    ask("POST", "/api/v1/namespaces/team/configmaps", config_map(namespace="team"))
    ask("POST", MAPS, config_map())
    ask("DELETE", "/api/v1/namespaces/team")
    left = [item["metadata"]["namespace"] for item in ask("GET", "/api/v1/configmaps")[1]["items"]]
    assert left == ["default"]


def test_objects_of_a_definition_come_and_go_with_it(ask: Ask) -> None:
    job = {"apiVersion": "example.com/v1", "kind": "Job", "metadata": {"name": "j"}}
    jobs = "/apis/example.com/v1/namespaces/default/jobs"
    _, made = ask("POST", CRDS, definition())
    assert {c["type"]: c["status"] for c in made["status"]["conditions"]}["Established"] == "True"
    assert ask("POST", jobs, job)[0] == 201
    assert "example.com" in [group["name"] for group in ask("GET", "/apis")[1]["groups"]]
    ask("DELETE", f"{CRDS}/jobs.example.com")
    assert ask("GET", jobs)[0] == 404
    ask("POST", CRDS, definition())
    assert ask("GET", jobs)[1]["items"] == [], "the job has gone with its kind"


def test_what_an_object_owns_goes_with_it(ask: Ask) -> None:
    _, owner = ask("POST", MAPS, config_map("owner"))
    owned = config_map("owned")
    owned["metadata"]["ownerReferences"] = [{"uid": owner["metadata"]["uid"], "name": "owner"}]
    ask("POST", MAPS, owned)
    ask("DELETE", f"{MAPS}/owner")
    assert ask("GET", MAPS)[1]["items"] == []


def test_finalizers_hold_an_object_back(ask: Ask) -> None:
    held = config_map()
    held["metadata"]["finalizers"] = ["example.com/hold"]
    ask("POST", MAPS, held)
    ask("DELETE", f"{MAPS}/a")
    _, found = ask("GET", f"{MAPS}/a")
    assert found["metadata"]["deletionTimestamp"]
    found["metadata"]["finalizers"] = []
    ask("PUT", f"{MAPS}/a", found)
    assert ask("GET", f"{MAPS}/a")[0] == 404


def test_a_dry_run_leaves_nothing(ask: Ask) -> None:
    assert ask("POST", MAPS, config_map(), query={"dryRun": "All"})[0] == 201
    assert ask("GET", MAPS)[1]["items"] == []


def test_secrets_are_encoded(ask: Ask) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "b"}}
    _, made = ask("POST", "/api/v1/namespaces/default/secrets", secret)
    assert (made["data"], made["type"], "stringData" in made) == ({"a": "Yg=="}, "Opaque", False)


def test_every_kind_says_what_can_be_done_with_it(ask: Ask) -> None:
    _, found = ask("GET", "/apis/apps/v1")
    names = {resource["name"]: resource for resource in found["resources"]}
    assert names["daemonsets"]["shortNames"] == ["ds"] and "patch" in names["daemonsets"]["verbs"]
    _, page = ask("GET", "/openapi/v3/apis/apps/v1")
    patch = page["paths"]["/apis/apps/v1/namespaces/{namespace}/daemonsets/{name}"]["patch"]
    assert "fieldValidation" in {parameter["name"] for parameter in patch["parameters"]}
