"""What ``kubectl auth can-i`` and ``kubectl auth whoami`` ask: reviews, which are answered and kept nowhere.

kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-access-review-v1/ and
…/authentication-resources/self-subject-review-v1/
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hyperpod_cdk.rehearsal.kubernetes.kinds import Kind, Kinds
from hyperpod_cdk.rehearsal.kubernetes.requests import Request, Target, User

Allowed = Callable[[User, Target], bool]
Review = Callable[[Kinds, Mapping[str, Any], User, Allowed], dict[str, Any]]
"""From the kinds, what is asked, who asks and who may what to the review's status."""


def _access(kinds: Kinds, spec: Mapping[str, Any], user: User, allowed: Allowed) -> dict[str, Any]:
    path, about = spec.get("nonResourceAttributes"), spec.get("resourceAttributes") or {}
    asked = path or about
    wanted = Target(
        kind=_kind(kinds, about) if path is None else _unknown("", str(path.get("path", ""))),
        namespace=about.get("namespace", ""),
        name=about.get("name", ""),
        subresource=about.get("subresource", ""),
        verb=asked.get("verb", ""),
    )
    return {"allowed": allowed(user, wanted)}


def _identity(_: Kinds, __: Mapping[str, Any], user: User, ___: Allowed) -> dict[str, Any]:
    return {"userInfo": {"username": user.name, "groups": list(user.groups)}}


def _kind(kinds: Kinds, about: Mapping[str, Any]) -> Kind:
    group, plural = about.get("group", ""), about.get("resource", "")
    found = (kind for kind in kinds if (kind.group, kind.plural) == (group, plural))
    return next(found, _unknown(group, plural))


def _unknown(group: str, plural: str) -> Kind:
    """What no rule about namespaces alone allows: a path, a kind that is not there, all kinds at once."""
    return Kind(group=group, version="", kind="", plural=plural, namespaced=False)


_REVIEWS: Mapping[str, Review] = {
    "apis/authorization.k8s.io/v1/selfsubjectaccessreviews": _access,
    "apis/authentication.k8s.io/v1/selfsubjectreviews": _identity,
}


def answer(kinds: Kinds, request: Request, user: User, allowed: Allowed) -> dict[str, Any] | None:
    """Answer a review; None where the request is none.

    Args:
        kinds: that are served.
        request: what is asked.
        user: who asks.
        allowed: tells whether a user may do what a request would ask for.

    Raises:
        StatusError: the body is no review.
    """
    review = _REVIEWS.get(request.path.strip("/"))
    if review is None or request.method != "POST":
        return None
    document = request.document
    return {**document, "status": review(kinds, document.get("spec") or {}, user, allowed)}
