"""What the core must know of a kind of resource: its data, and the functions that are its own."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from ..clients import Aws
from ..event import Event
from .form import Form
from .thing import Desired, Live

D = TypeVar("D", bound=Desired)
L = TypeVar("L", bound=Live)


class Outcome(StrEnum):
    """What a poll does about a status."""

    WAIT = "wait"
    CHECK = "check"
    FAIL = "fail"


@dataclass(frozen=True, kw_only=True)
class Sent:
    """What became of an update.

    Args:
        step: names what was sent; empty when nothing was.
        more: whether something is left that must wait until the thing is at rest.
    """

    step: str = ""
    more: bool = False


@dataclass(frozen=True, kw_only=True)
class Turn(Generic[D, L]):
    """A poll of a thing at rest, which is ours.

    Args:
        event: CloudFormation's.
        desired: what is asked for.
        old: what was asked for before; None of what was taken over.
        live: what the service shows.
        step: names what this request sent last; empty when it has sent nothing.
        waits: whether the request still has something to send.
        since: when something was sent last, in seconds since 1970.
    """

    event: Event
    desired: D
    old: D | None
    live: L
    step: str
    waits: bool
    since: float


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a poll makes of a thing at rest; with nothing in it, the next poll will tell.

    Args:
        sent: names what was sent just now.
        lost: why it did not become what was asked for.
        data: what a stack can read of a thing that is what was asked for.
    """

    sent: str = ""
    lost: str = ""
    data: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Kind(Generic[D, L]):
    """A kind of resource.

    Args:
        noun: what it is called, for people.
        anew: how a user has one made again that is gone, for people; a sentence.
        where: behind a name that is taken, for people.
        holds: what else than the thing a deletion waits for, for people.
        name: the request's member that names it, for people.
        form: of the properties.
        create: the client's method that takes the request.
        answer: the member of its answer that is the key.
        delete: the client's method that takes the key.
        key: what ``delete`` calls it.
        outcomes: what each status means for Create and Update; one that is not here is waited for.
        delete_failed: statuses of a deletion that the service gave up.
        unlisted_seconds: how long the service may take to find by its physical id what is there.
        is_id: whether a text is a physical id, and no key.
        find: describes by physical id or by key; None when there is none.
        whole: describes by physical id, all of it; raises "not found" for what is known to be there and can
            not be described yet.
        last_look: before Create: refuses what can not be made, or gives one of that name that shows late.
        plan: gives what sends an update, or its first step: from what is asked for, what was asked for
            before (None of what is taken over, of which nothing is known), and what lives. Changes nothing
            itself; raises RefusedError for a change that the service does not make.
        refuse: refuses a replacement that can not be made beside what lives.
        judge: is what is at rest what was asked for?
        explain: why it failed, behind a headline.
        early: the data of what is on its way still, when that will do; None to go on waiting.
        done: what is left to do when a Create or Update is done.
        remains: of keys that can not be described, those that are there all the same.
        gone: whether nothing is left that a deleted thing held.
    """

    noun: str
    anew: str
    where: str = ""
    holds: str = ""
    name: str
    form: Form[D]
    create: str
    answer: str
    delete: str
    key: str
    outcomes: Mapping[str, Outcome]
    delete_failed: frozenset[str] = frozenset()
    unlisted_seconds: float = 0.0
    is_id: Callable[[Aws, str], bool]
    find: Callable[[Aws, str], L | None]
    whole: Callable[[Aws, str], L | None]
    last_look: Callable[[Aws, D], L | None]
    plan: Callable[[Aws, D, D | None, L], Callable[[], Sent]]
    refuse: Callable[[D, D], None] = lambda *_: None
    judge: Callable[[Turn[D, L], Aws], Verdict]
    explain: Callable[[Aws, L, str], str]
    early: Callable[[Event, L, Aws], Mapping[str, str] | None] = lambda *_: None
    done: Callable[[Event, Aws], None] = lambda *_: None
    remains: Callable[[Aws, Event, Iterable[str]], list[L]] = lambda *_: []
    gone: Callable[[Event, Aws], bool] = lambda *_: True
