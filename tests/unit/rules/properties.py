"""What holds between rules and service, for whatever specs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hyperpod_cdk.rules import check, errors
from hyperpod_cdk.spec import HyperPodSpec
from tests.unit.rules.requests import refusals, request_of

# the same specs each time, so that what they reach can be counted on
reproducible = settings(
    deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What rules and service say to a spec: the codes of errors, and the service's texts."""

    codes: frozenset[str]
    refusals: Sequence[str]


def outcomes_of(
    specs: st.SearchStrategy[HyperPodSpec], *, also: Iterable[HyperPodSpec] = ()
) -> list[Outcome]:
    """Outcomes of many random specs, while it is held against each that what is refused has been told.

    Args:
        specs: that may have faults.
        also: further ones.
    """
    found: list[Outcome] = []

    @settings(reproducible, max_examples=300)
    @given(specs)
    def property_holds(spec: HyperPodSpec) -> None:
        codes = frozenset(finding.code for finding in errors(check(spec)))
        refused = said(spec)
        assert codes or not refused
        found.append(Outcome(codes=codes, refusals=refused))

    for one in also:
        property_holds = example(one)(property_holds)
    property_holds()
    return found


def members_of_sound(specs: st.SearchStrategy[HyperPodSpec]) -> set[str]:
    """Members of the requests of many specs, each of which rules and service pass.

    Args:
        specs: without a fault.
    """
    seen: set[str] = set()

    @settings(reproducible, max_examples=200)
    @given(specs)
    def property_holds(spec: HyperPodSpec) -> None:
        assert errors(check(spec)) == []
        assert said(spec) == []
        seen.update(members_of(request_of(spec)))

    property_holds()
    return seen


def said(spec: HyperPodSpec) -> list[str]:
    """Why the emulated service refuses what a spec becomes."""
    try:
        request = request_of(spec)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # no request can be made of it at all
        return [repr(error)]
    return refusals(request)


def members_of(value: Any, path: str = "") -> set[str]:
    """Every member of a request, as a path."""
    found = set()
    if isinstance(value, dict):
        for name, item in value.items():
            below = f"{path}.{name}" if path else name
            found |= {below} | members_of(item, below)
    elif isinstance(value, list):
        for item in value:
            found |= members_of(item, f"{path}[]")
    return found
