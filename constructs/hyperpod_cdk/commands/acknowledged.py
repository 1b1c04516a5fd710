"""Codes of warnings that a command line acknowledges."""

from collections.abc import Sequence

from hyperpod_cdk.commands.exits import CommandError
from hyperpod_cdk.commands.known import known_rules, unknown


def codes_of(given: Sequence[str]) -> frozenset[str]:
    """The codes, upper case.

    Args:
        given: values of ``--acknowledge``, each one code or several with commas between.

    Raises:
        CommandError: there is no such code, or it is an error's.
    """
    codes = frozenset(code.strip().upper() for one in given for code in one.split(","))
    if not codes:
        return codes
    from hyperpod_cdk.rules import Severity

    known = known_rules()
    for code in sorted(codes):
        if code not in known:
            raise CommandError(f"--acknowledge: {unknown(code, known)}")
        if known[code].severity is Severity.ERROR:
            raise CommandError(
                f"--acknowledge: {code} is an error, and errors can not be acknowledged: mend it"
            )
    return codes
