"""The form of a resource's properties, and how they become what is asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from botocore.validate import ParamValidator

from ..cast import cast
from ..clients import Aws
from ..errors import RefusedError
from .thing import Desired

D = TypeVar("D", bound=Desired)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Form(Generic[D]):
    """The form of ResourceProperties.

    Args:
        operation: the service's, which takes Request.
        formats: every property format ever released; each must pass Delete and a rollback's Update for ever.
        properties: names of all properties.
        names: members of Request that say which thing it is.
        build: makes what is asked for of Request in the API's types and the other properties; the last
            argument says whether to refuse what is wrong with them.
        check: refuses what the API's model does not.
    """

    operation: str
    formats: frozenset[str]
    properties: frozenset[str]
    names: tuple[str, ...]
    build: Callable[[Mapping[str, Any], Mapping[str, Any], Aws, bool], D]
    check: Callable[[Mapping[str, Any], D], None] = lambda *_: None

    def read(self, properties: Mapping[str, Any], aws: Aws) -> D:
        """Read and check ResourceProperties; makes no call.

        Raises:
            RefusedError: unknown format, property or member; a value of the wrong type; a required member
                that is missing; a range that is broken; what ``check`` refuses.
        """
        known = properties.get("Format", "1")
        if known not in self.formats:
            raise RefusedError(
                f"Format: this handler reads {', '.join(sorted(self.formats))}, got: {known!r}"
            )
        unknown = sorted(set(properties) - self.properties)
        if unknown:
            allowed = ", ".join(sorted(self.properties))
            raise RefusedError(f"{unknown[0]}: unknown property; allowed: {allowed}")
        desired = self._read(properties, aws, strict=True)
        report = ParamValidator().validate(dict(desired.request), aws.input_shape(self.operation))
        if report.has_errors():
            raise RefusedError(f"Request: {report.generate_report()}")
        self.check(properties, desired)
        return desired

    def read_leniently(self, properties: Mapping[str, Any], aws: Aws) -> D:
        """Read properties of the past, which another release may have written; never refuses.

        What can not be read counts as absent.
        """
        try:
            return self._read(properties, aws, strict=False)
        except RefusedError:
            request = properties.get("Request")
            kept = request if isinstance(request, Mapping) else {}
            names = {name: kept[name] for name in self.names if isinstance(kept.get(name), str)}
            return self.build(names, {}, aws, False)

    def _read(self, properties: Mapping[str, Any], aws: Aws, *, strict: bool) -> D:
        shape = aws.input_shape(self.operation)
        request = cast(properties.get("Request") or {}, shape, "Request", strict=strict)
        return self.build(request, properties, aws, strict)
