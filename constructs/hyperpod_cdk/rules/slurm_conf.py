"""HP436 and HP437: names and values of slurm.conf, as Slurm's parser takes them."""

import re
from collections.abc import Iterator
from difflib import get_close_matches

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import slurm_parameters
from hyperpod_cdk.spec import HyperPodSpec

_CONF = "lifecycle.slurm.conf"
_KNOWN = {name.lower(): name for name in slurm_parameters.ALL}
_SHORT = frozenset(map(str.lower, slurm_parameters.SHORT_NUMBERS))
_NUMBERS = _SHORT | frozenset(map(str.lower, slurm_parameters.NUMBERS))
_WORDS = {name.lower(): words for name, words in slurm_parameters.WORDS.items()} | dict.fromkeys(
    map(str.lower, slurm_parameters.TRUTHS), slurm_parameters.TRUE_OR_FALSE
)
_TIMES = frozenset(map(str.lower, slurm_parameters.TIMES))
_TIME = re.compile(r"\d+(-\d+)?(:\d+){0,2}|unlimited|infinite", re.IGNORECASE)
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+[km]?|unlimited|infinite", re.IGNORECASE)


@checks(
    Rule(
        code="HP436",
        title="a setting that slurm.conf does not have",
        why="Slurm ends at a name that it does not know: the cluster has no scheduler",
        fix="correct the name; or acknowledge this where the image's Slurm has it, which is newer than 24.11",
        source="https://slurm.schedmd.com/slurm.conf.html; the parser of Slurm 22.05 and 24.11, measured",
        severity=Severity.WARNING,
    )
)
def unknown_setting(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for name in spec.lifecycle.slurm.conf:
        if not unresolved(name) and name.lower() not in _KNOWN:
            near = get_close_matches(name.lower(), _KNOWN, n=2, cutoff=0.8)
            nearest = tuple(_KNOWN[one] for one in near)
            yield rule.finding(join(_CONF, name), "is not known to Slurm", given=name, nearest=nearest)


@checks(
    Rule(
        code="HP437",
        title="a value that slurm.conf can not have",
        why="Slurm ends at a value that it can not read: the cluster has no scheduler",
        fix="use a value that is allowed; memory is in MiB, without a unit, by CPU or by node",
        source="https://slurm.schedmd.com/slurm.conf.html; the parser of Slurm 22.05 and 24.11, measured",
    )
)
def setting_value(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    conf = {name: value for name, value in spec.lifecycle.slurm.conf.items() if not unresolved(name, value)}
    for name, value in conf.items():
        allowed = _wanted(name.lower(), value)
        if allowed is not None:
            yield rule.finding(join(_CONF, name), "can not be read by Slurm", given=value, allowed=allowed)
    names = {name.lower(): name for name in conf}
    for first, second in slurm_parameters.EXCLUSIVE:
        if first.lower() in names and second.lower() in names:
            name = names[second.lower()]
            yield rule.finding(join(_CONF, name), f"is ignored beside {first}", given=conf[name])


def _wanted(name: str, value: str) -> str | None:
    """What is allowed where a value is not, None where it is."""
    words = _WORDS.get(name)
    if words is not None:
        return None if set(value.lower().split(",")) <= set(words) else ", ".join(words)
    if name in _TIMES:
        return None if _TIME.fullmatch(value) else "minutes, or days-hours such as 14-0"
    return _wanted_number(name, value) if name in _NUMBERS else None


def _wanted_number(name: str, value: str) -> str | None:
    highest = slurm_parameters.SHORT_HIGHEST if name in _SHORT else None
    if _NUMBER.fullmatch(value) and not (highest and value.isdigit() and int(value) > highest):
        return None
    return f"a whole number{f' up to {highest}' if highest else ''}, UNLIMITED or INFINITE"
