"""Which objects a label or field selector means."""

from __future__ import annotations

import re
from typing import Any

from hyperpod_cdk.rehearsal.kubernetes.errors import bad_request

_LABEL = re.compile(
    r"\s*(?:(?P<absent>!)\s*(?P<no>[^\s,=!()]+)"
    r"|(?P<key>[^\s,=!()]+)\s*(?:(?:(?P<set>in|notin)\s*(?P<values>\([^)]*\))|(?P<operator>==|=|!=)\s*(?P<value>[^,]*)))?)\s*(?:,|$)"
)


def labels_match(selector: str, labels: dict[str, str]) -> bool:
    """Tell whether labels fit a selector, by equality or by sets.

    Raises:
        StatusError: the selector can not be read.
    """
    place = 0
    while place < len(selector):
        term = _LABEL.match(selector, place)
        if term is None or term.end() == place:
            raise bad_request(f"unable to parse requirement: {selector[place:]}")
        place = term.end()
        if not _term_matches(term, labels):
            return False
    return True


def _term_matches(term: re.Match[str], labels: dict[str, str]) -> bool:
    if term["absent"]:
        return term["no"] not in labels
    found, operator = labels.get(term["key"]), term["operator"] or term["set"]
    if operator is None:
        return found is not None
    wanted = {part.strip() for part in (term["values"] or term["value"]).strip("() ").split(",")}
    return found not in wanted if operator in ("!=", "notin") else found in wanted


def fields_match(selector: str, document: dict[str, Any]) -> bool:
    """Tell whether an object has the values that a field selector names."""
    for term in filter(None, selector.split(",")):
        path, operator, wanted = re.split(r"(!=|==|=)", term, maxsplit=1)
        value: Any = document
        for step in path.strip().split("."):
            value = value.get(step, "") if isinstance(value, dict) else ""
        if (str(value) == wanted) is (operator == "!="):
            return False
    return True
