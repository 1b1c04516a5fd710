"""Patches."""

from typing import Any

import pytest

from hyperpod_cdk.rehearsal.kubernetes import StatusError
from hyperpod_cdk.rehearsal.kubernetes.json_patch import json_patch
from hyperpod_cdk.rehearsal.kubernetes.merge import json_merge, strategic_merge

A, B = {"name": "a", "image": "1"}, {"name": "b", "image": "1"}


@pytest.mark.parametrize(
    ("target", "patch", "merged"),
    [
        ({"a": 1, "b": {"c": 1, "d": 2}}, {"b": {"c": None, "e": 3}}, {"a": 1, "b": {"d": 2, "e": 3}}),
        ({"list": [1, 2]}, {"list": [3]}, {"list": [3]}),
        ({"a": "text"}, {"a": {"b": None}}, {"a": {}}),
    ],
)
def test_json_merge(target: Any, patch: Any, merged: Any) -> None:
    assert json_merge(target, patch) == merged


@pytest.mark.parametrize(
    ("target", "patch", "merged"),
    [
        pytest.param(
            {"containers": [A, B]},
            {"containers": [{"name": "b", "image": "2"}]},
            {"containers": [A, {"name": "b", "image": "2"}]},
            id="items are told apart by name",
        ),
        pytest.param(
            {"containers": [A, B]},
            {"containers": [{"name": "a", "$patch": "delete"}]},
            {"containers": [B]},
            id="an item is deleted",
        ),
        pytest.param(
            {"containers": [A]},
            {"containers": [{"$patch": "replace"}, B]},
            {"containers": [B]},
            id="a list is replaced",
        ),
        pytest.param({"args": ["1"]}, {"args": ["2"]}, {"args": ["2"]}, id="plain lists are one value"),
        pytest.param(
            {"finalizers": ["a", "b"]},
            {"$deleteFromPrimitiveList/finalizers": ["a"], "finalizers": ["c"]},
            {"finalizers": ["b", "c"]},
            id="sets grow and shrink",
        ),
        pytest.param(
            {"ports": [{"port": 80, "name": "http"}]},
            {"ports": [{"port": 80, "name": "web"}, {"port": 443}]},
            {"ports": [{"port": 80, "name": "web"}, {"port": 443}]},
            id="a service's ports",
        ),
        pytest.param(
            {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}},
            {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}},
            {"strategy": {"type": "Recreate"}},
            id="one of a union takes another's place",
        ),
        pytest.param({"a": {"b": 1}}, {"a": {"$patch": "replace", "c": 2}}, {"a": {"c": 2}}, id="an object"),
        pytest.param({"a": 1, "b": 2}, {"a": None}, {"b": 2}, id="a member is taken away"),
    ],
)
def test_strategic_merge(target: Any, patch: Any, merged: Any) -> None:
    assert strategic_merge(target, patch) == merged


@pytest.mark.parametrize(
    ("operations", "patched"),
    [
        ([{"op": "add", "path": "/b", "value": 1}], {"a": [1, 2], "b": 1}),
        ([{"op": "add", "path": "/a/1", "value": 9}], {"a": [1, 9, 2]}),
        ([{"op": "add", "path": "/a/-", "value": 3}], {"a": [1, 2, 3]}),
        ([{"op": "remove", "path": "/a/0"}], {"a": [2]}),
        ([{"op": "replace", "path": "/a/0", "value": 5}], {"a": [5, 2]}),
        ([{"op": "replace", "path": "", "value": {"c": 1}}], {"c": 1}),
        ([{"op": "copy", "from": "/a/0", "path": "/x~1y"}], {"a": [1, 2], "x/y": 1}),
        ([{"op": "move", "from": "/a", "path": "/b"}], {"b": [1, 2]}),
        ([{"op": "test", "path": "/a/1", "value": 2}, {"op": "remove", "path": "/a"}], {}),
    ],
)
def test_json_patch(operations: Any, patched: Any) -> None:
    target = {"a": [1, 2]}
    assert json_patch(target, operations) == patched
    assert target == {"a": [1, 2]}


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        ({"op": "remove", "path": "/b"}, 422),
        ({"op": "replace", "path": "/b", "value": 1}, 422),
        ({"op": "test", "path": "/a/0", "value": 2}, 422),
        ({"op": "add", "path": "/a/x", "value": 2}, 422),
        ({"op": "add", "path": "/a"}, 422),
        ({"op": "shuffle", "path": "/a"}, 400),
    ],
)
def test_json_patch_that_does_not_fit(operation: Any, code: int) -> None:
    with pytest.raises(StatusError) as caught:
        json_patch({"a": [1, 2]}, [operation])
    assert caught.value.code == code
