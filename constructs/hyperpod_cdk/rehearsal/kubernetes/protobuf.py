"""The few objects that helm and kubectl send in Kubernetes' binary form: releases, namespaces, reviews.

The numbers of fields: generated.proto of k8s.io/api/core/v1, k8s.io/api/authorization/v1 and
k8s.io/apimachinery/pkg/apis/meta/v1; the envelope: https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.rehearsal.kubernetes.errors import bad_request, unsupported

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_LENGTHS = {1: 8, 5: 4}
"""Bytes of the wire types that have a fixed length."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field of a message.

    Args:
        name: as in JSON.
        of: ``text``, ``bytes``, ``truth``, ``raw``, or the fields of an inner message.
        many: ``one``, ``list``, or ``map`` from texts.
    """

    name: str
    of: str | Mapping[int, Field] = "text"
    many: str = "one"


_METADATA: Mapping[int, Field] = {
    1: Field(name="name"),
    2: Field(name="generateName"),
    3: Field(name="namespace"),
    5: Field(name="uid"),
    6: Field(name="resourceVersion"),
    11: Field(name="labels", many="map"),
    12: Field(name="annotations", many="map"),
    14: Field(name="finalizers", many="list"),
}
_ASKED: Mapping[int, Field] = {
    1: Field(
        name="resourceAttributes",
        of={
            1: Field(name="namespace"),
            2: Field(name="verb"),
            3: Field(name="group"),
            4: Field(name="version"),
            5: Field(name="resource"),
            6: Field(name="subresource"),
            7: Field(name="name"),
        },
    ),
    2: Field(name="nonResourceAttributes", of={1: Field(name="path"), 2: Field(name="verb")}),
}
_KINDS: Mapping[tuple[str, str], Mapping[int, Field]] = {
    ("v1", "Secret"): {
        1: Field(name="metadata", of=_METADATA),
        2: Field(name="data", of="bytes", many="map"),
        3: Field(name="type"),
        4: Field(name="stringData", many="map"),
        5: Field(name="immutable", of="truth"),
    },
    ("v1", "ConfigMap"): {
        1: Field(name="metadata", of=_METADATA),
        2: Field(name="data", many="map"),
        3: Field(name="binaryData", of="bytes", many="map"),
        4: Field(name="immutable", of="truth"),
    },
    ("v1", "Namespace"): {1: Field(name="metadata", of=_METADATA)},
    ("v1", "ServiceAccount"): {1: Field(name="metadata", of=_METADATA)},
    ("authorization.k8s.io/v1", "SelfSubjectAccessReview"): {2: Field(name="spec", of=_ASKED)},
    ("authentication.k8s.io/v1", "SelfSubjectReview"): {},
}
_ENVELOPE: Mapping[int, Field] = {
    1: Field(name="typeMeta", of={1: Field(name="apiVersion"), 2: Field(name="kind")}),
    2: Field(name="raw", of="raw"),
}


def decode(body: bytes) -> dict[str, Any]:
    """Give an object as JSON has it.

    Raises:
        StatusError: it is no such message, or of a kind that is not read here.
    """
    if not body.startswith(_MAGIC):
        raise bad_request("the body is no protobuf of Kubernetes")
    envelope = _message(body[len(_MAGIC) :], _ENVELOPE)
    about = envelope.get("typeMeta", {})
    fields = _KINDS.get((about.get("apiVersion", ""), about.get("kind", "")))
    if fields is None:
        raise unsupported(f"{MEDIA_TYPE} of a {about.get('kind')}; kubectl apply -f sends JSON")
    return {**about, **_message(envelope.get("raw", b""), fields)}


def _message(data: bytes, fields: Mapping[int, Field]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, value in _parts(data):
        field = fields.get(number)
        if field is None:
            continue
        if field.many == "map":
            entry = _message(value, {1: Field(name="key"), 2: Field(name="value", of=field.of)})
            found.setdefault(field.name, {})[entry.get("key", "")] = entry.get("value", "")
        elif field.many == "list":
            found.setdefault(field.name, []).append(_value(value, field))
        elif value not in (b"", 0):
            found[field.name] = _value(value, field)
    return found


def _value(value: Any, field: Field) -> Any:
    if not isinstance(field.of, str):
        return _message(value, field.of)
    if field.of == "bytes":
        return base64.b64encode(value).decode()
    if field.of == "truth":
        return bool(value)
    return value.decode() if field.of == "text" else value


def _parts(data: bytes) -> Iterator[tuple[int, Any]]:
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, place = _varint(data, place)
            yield number, value
            continue
        if wire == 2:
            length, place = _varint(data, place)
        else:
            length = _LENGTHS[wire]
        yield number, data[place : place + length]
        place += length


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if not byte & 0x80:
            return value, place
