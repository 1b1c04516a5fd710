"""The objects of a cluster, in memory."""

from __future__ import annotations

import copy
import itertools
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Condition, RLock
from typing import Any

from hyperpod_cdk.rehearsal.kubernetes import ownership
from hyperpod_cdk.rehearsal.kubernetes.defaults import complete
from hyperpod_cdk.rehearsal.kubernetes.errors import conflict, exists, invalid, not_found
from hyperpod_cdk.rehearsal.kubernetes.kinds import Kind, Kinds

Document = dict[str, Any]
Validate = Callable[[Document], list[str]]
"""Gives what is wrong with an object, for a caller who wants it checked."""

FIRST_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_CRD = "CustomResourceDefinition"


@dataclass(kw_only=True)
class Entry:
    """An object and who owns its fields."""

    kind: Kind
    document: Document
    owners: ownership.Owners = field(default_factory=dict)

    @property
    def namespace(self) -> str:
        """Empty for objects that lie in none."""
        return str(self.document["metadata"].get("namespace", ""))


@dataclass(frozen=True, kw_only=True)
class Change:
    """What happened to an object; ``number`` is its resourceVersion."""

    number: int
    type: str
    kind: Kind
    document: Document


_Key = tuple[str, str, str, str]


class Store:
    """Objects by kind, namespace and name, with the rules that hold for all of them.

    No controller acts on them: a Deployment has no pods. Webhooks are not called.

    Args:
        validate: asked about each object that is created or changed. Default: all are as they should be.
    """

    def __init__(self, *, validate: Validate | None = None) -> None:
        self.kinds = Kinds()
        self.changed = Condition(RLock())
        """Held while objects change; waited for by those who watch."""
        self.history: list[Change] = []
        self._validate = validate
        self._entries: dict[_Key, Entry] = {}
        self._numbers = itertools.count(1)
        self.version = 0
        """resourceVersion of the newest change."""
        for name in FIRST_NAMESPACES:
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            self.create(self.kinds.find("", "v1", "namespaces"), namespace, manager="kube-apiserver")

    def entries(self, kind: Kind, namespace: str = "") -> list[Entry]:
        """Give the objects of a kind, by namespace and name; of all namespaces when none is named."""
        with self.changed:
            return [
                self._shown(entry, kind)
                for key, entry in sorted(self._entries.items())
                if key[:2] == (kind.group, kind.plural) and namespace in ("", key[2])
            ]

    def get(self, kind: Kind, namespace: str, name: str) -> Entry:
        """Give an object.

        Raises:
            StatusError: 404.
        """
        with self.changed:
            return self._shown(self._entry(kind, namespace, name), kind)

    def create(self, kind: Kind, document: Document, *, manager: str, dry_run: bool = False) -> Document:
        """Create an object.

        Args:
            kind: its kind.
            document: the object; with its namespace, if its kind has them.
            manager: who creates it.
            dry_run: only tell what it would be.

        Raises:
            StatusError: there is one of this name, no such namespace, or it is not valid.
        """
        with self.changed:
            name = self._name(kind, document)
            namespace = self._namespace(kind, document)
            if self._key(kind, namespace, name) in self._entries:
                raise exists(kind.resource, name)
            document["metadata"].update(
                uid=str(uuid.uuid4()),
                creationTimestamp=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
                generation=1,
            )
            complete(kind.kind, document)
            self._check(kind, document)
            entry = Entry(kind=kind, document=document)
            ownership.note_update(entry.owners, {}, document, manager=manager, keyed=not kind.custom)
            if not dry_run:
                self._entries[self._key(kind, namespace, name)] = entry
                self._note("ADDED", entry)
            return copy.deepcopy(document)

    def change(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        make: Callable[[Document, ownership.Owners], Document],
        *,
        manager: str | None,
        dry_run: bool = False,
    ) -> Document:
        """Put another state in an object's place.

        Args:
            kind: its kind.
            namespace: where it lies; empty for kinds without.
            name: of the object.
            make: gives the new state, of the old one and the owners of its fields.
            manager: who changes it, and owns what is changed; None when ``make`` notes the owners itself.
            dry_run: only tell what it would be.

        Raises:
            StatusError: there is none, somebody was faster, or the new state is not valid.
        """
        with self.changed:
            entry = self._entry(kind, namespace, name)
            old, owners = entry.document, copy.deepcopy(entry.owners)
            new = make(copy.deepcopy(old), owners)
            self._keep_identity(kind, old, new)
            complete(kind.kind, new)
            self._check(kind, new)
            if manager is not None:
                ownership.note_update(owners, old, new, manager=manager, keyed=not kind.custom)
            if new != old and not dry_run:
                if _without_metadata(new) != _without_metadata(old):
                    new["metadata"]["generation"] = old["metadata"]["generation"] + 1
                entry.document, entry.owners = new, owners
                self._note("MODIFIED", entry)
                self._finish_deletion(entry)
            elif not dry_run:
                entry.owners = owners
            return copy.deepcopy(new)

    def delete(self, kind: Kind, namespace: str, name: str) -> Document:
        """Delete an object, and all that lies in it; one with finalizers only begins to go.

        Raises:
            StatusError: 404.
        """
        with self.changed:
            entry = self._entry(kind, namespace, name)
            metadata = entry.document["metadata"]
            metadata.setdefault("deletionTimestamp", f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
            self._finish_deletion(entry)
            if metadata.get("finalizers"):
                self._note("MODIFIED", entry)
            return copy.deepcopy(entry.document)

    def _finish_deletion(self, entry: Entry) -> None:
        metadata = entry.document["metadata"]
        if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
            return
        for inner in list(self._inside(entry)):
            self.delete(inner.kind, inner.namespace, inner.document["metadata"]["name"])
        self._entries.pop(self._key(entry.kind, entry.namespace, metadata["name"]), None)
        if entry.kind.kind == _CRD:
            self.kinds.remove(entry.document)
        self._note("DELETED", entry)

    def _inside(self, entry: Entry) -> Iterator[Entry]:
        """What goes with an object: all in a namespace, all of a definition's kinds, what it owns."""
        metadata = entry.document["metadata"]
        made = {kind.resource for kind in self.kinds.of(entry.document)} if entry.kind.kind == _CRD else set()
        for other in self._entries.values():
            owners = other.document["metadata"].get("ownerReferences", ())
            if (
                (entry.kind.kind == "Namespace" and other.namespace == metadata["name"])
                or other.kind.resource in made
                or any(owner["uid"] == metadata["uid"] for owner in owners)
            ):
                yield other

    def _name(self, kind: Kind, document: Document) -> str:
        metadata = document.setdefault("metadata", {})
        if "name" not in metadata and metadata.get("generateName"):
            metadata["name"] = metadata["generateName"] + uuid.uuid4().hex[:5]
        if not metadata.get("name"):
            raise invalid(kind.kind, "", "metadata.name: Required value: name or generateName is required")
        return str(metadata["name"])

    def _namespace(self, kind: Kind, document: Document) -> str:
        if not kind.namespaced:
            document["metadata"].pop("namespace", None)
            return ""
        namespace = document["metadata"].setdefault("namespace", "default")
        if self._key(self.kinds.find("", "v1", "namespaces"), "", namespace) not in self._entries:
            raise not_found("namespaces", namespace)
        return str(namespace)

    def _check(self, kind: Kind, document: Document) -> None:
        name = document["metadata"]["name"]
        if (document.get("apiVersion"), document.get("kind")) != (kind.api_version, kind.kind):
            raise invalid(kind.kind, name, f"the path is for {kind.api_version} {kind.kind}")
        found = self._validate(document) if self._validate and not kind.custom else []
        if found:
            raise invalid(kind.kind, name, "; ".join(found))

    def _keep_identity(self, kind: Kind, old: Document, new: Document) -> None:
        mine, theirs = new.setdefault("metadata", {}), old["metadata"]
        name, version = theirs["name"], mine.get("resourceVersion")
        if version not in (None, "", theirs["resourceVersion"]):
            raise conflict(
                kind.resource, name, "the object has been modified; please apply your changes to it"
            )
        if mine.get("uid", theirs["uid"]) != theirs["uid"]:
            raise conflict(kind.resource, name, "the UID in the precondition does not match")
        kept = (
            "name",
            "namespace",
            "uid",
            "creationTimestamp",
            "generation",
            "resourceVersion",
            "deletionTimestamp",
        )
        mine.update({key: theirs[key] for key in kept if key in theirs})

    def _entry(self, kind: Kind, namespace: str, name: str) -> Entry:
        found = self._entries.get(self._key(kind, namespace, name))
        if found is None:
            raise not_found(kind.resource, name)
        return found

    def _shown(self, entry: Entry, kind: Kind) -> Entry:
        """An object in the version in which it is asked for."""
        document = {**copy.deepcopy(entry.document), "apiVersion": kind.api_version}
        return Entry(kind=kind, document=document, owners=entry.owners)

    def _key(self, kind: Kind, namespace: str, name: str) -> _Key:
        return kind.group, kind.plural, namespace if kind.namespaced else "", name

    def _note(self, type_: str, entry: Entry) -> None:
        self.version = next(self._numbers)
        entry.document["metadata"]["resourceVersion"] = str(self.version)
        if entry.kind.kind == _CRD and type_ != "DELETED":
            self.kinds.add(entry.document)
        document = copy.deepcopy(entry.document)
        self.history.append(Change(number=self.version, type=type_, kind=entry.kind, document=document))
        self.changed.notify_all()


def _without_metadata(document: Mapping[str, Any]) -> Document:
    return {name: value for name, value in document.items() if name not in ("metadata", "status")}
