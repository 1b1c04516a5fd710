"""Rules at synth: errors stop the construction, warnings become annotations."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from aws_cdk import Acknowledgment, Stack, Validations
from constructs import IConstruct

from hyperpod_cdk.rules import Finding, check, errors
from hyperpod_cdk.rules.finding import ordered
from hyperpod_cdk.spec import Cluster, FileSystem, HyperPodSpec

ANNOTATION = "hyperpod-cdk:"
"""Before a warning's code in the id of its annotation."""
_ARGUMENT = "file_system"
_checked_above: ContextVar[bool] = ContextVar("_checked_above", default=False)


class SpecError(ValueError):
    """The spec breaks rules; ``findings`` holds everything at once, warnings after the errors.

    Args:
        findings: of one run.
        construct: path of the construct that they stop. Default: not known.
    """

    def __init__(self, findings: Sequence[Finding], construct: str = "") -> None:
        self.findings = tuple(ordered(findings))
        self.construct = construct
        head = [f"{construct}: the spec breaks rules"] if construct else []
        super().__init__("\n".join([*head, *map(str, self.findings)]))


def checked(spec: HyperPodSpec, construct: str = "") -> list[Finding]:
    """The warnings about a spec; none within :func:`checked_above`.

    Args:
        spec: what the user asks for; tokens are passed over.
        construct: path of the construct that it is for. Default: not known.

    Raises:
        SpecError: it breaks rules.
    """
    return [] if _checked_above.get() else _warnings(check(spec), construct)


def checked_file_system(file_system: FileSystem, construct: IConstruct) -> list[Finding]:
    """The warnings about a file system that no spec holds; none within :func:`checked_above`.

    Their paths begin at the argument.

    Args:
        file_system: its settings.
        construct: its construct, which tells the Region.

    Raises:
        SpecError: it breaks rules of file systems.
    """
    if _checked_above.get():
        return []
    spec = HyperPodSpec(
        cluster=Cluster(instance_groups=()),
        storage={_ARGUMENT: file_system},
        region=Stack.of(construct).region,
    )
    here = f"storage.{_ARGUMENT}"
    return _warnings(
        [
            replace(finding, path=finding.path.removeprefix("storage."))
            for finding in check(spec)
            # the whole of it is said by rules about its mounts, and here are none
            if finding.path.startswith(f"{here}.")
        ],
        construct.node.path,
    )


def annotate(
    construct: IConstruct,
    warnings: Sequence[Finding],
    place: Callable[[Finding], IConstruct | None] = lambda _: None,
) -> None:
    """Show warnings at synth, each acknowledgeable by its code: ``annotation::hyperpod-cdk:HP223``.

    Args:
        construct: what they are about.
        warnings: findings that are no errors.
        place: a construct nearer to a warning's cause, None for ``construct``. Default: none.
    """
    for warning in warnings:
        where = place(warning) or construct
        Validations.of(where).add_warning(f"{ANNOTATION}{warning.code}", str(warning))


@contextmanager
def checked_above() -> Iterator[None]:
    """Constructs made meanwhile check nothing: whoever makes them has checked the whole spec."""
    token = _checked_above.set(True)
    try:
        yield
    finally:
        _checked_above.reset(token)


def acknowledge_warnings(construct: IConstruct, codes: Sequence[str]) -> None:
    """Silence warnings of some codes on a construct and all below it.

    Args:
        construct: where they are known.
        codes: such as ``HP223``.
    """
    for code in codes:
        why = Acknowledgment(id=f"{ANNOTATION}{code}", reason="acknowledged by the spec")
        Validations.of(construct).acknowledge(why)


def _warnings(findings: Sequence[Finding], construct: str) -> list[Finding]:
    if errors(findings):
        raise SpecError(findings, construct)
    return list(findings)
