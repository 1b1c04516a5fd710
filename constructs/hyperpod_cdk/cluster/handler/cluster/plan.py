"""From differences to the calls that remove them, or to the reason why none can."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..clients import Aws
from .difference import Change, Versions, differences, keyed
from .policy import Policy, Rule
from .refusals import can_go, controller_removal, refusal
from .request import GROUP_LISTS, Desired
from .software import software_steps
from .step import Step

_ROOT = Rule(policy=Policy.IN_PLACE)
_SOFTWARE = ("ImageId", "ImageReleaseVersion")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What an update comes down to.

    Args:
        refusals: why it can not be done; no step may run when there is one.
        steps: calls, in order; each needs a cluster that is InService.
        changes: the members that differ.
        removed_groups: names of the groups that go.
    """

    refusals: tuple[str, ...]
    steps: tuple[Step, ...]
    changes: tuple[Change, ...]
    removed_groups: tuple[str, ...]

    @property
    def summary(self) -> list[str]:
        """What differs, for logs and reasons; paths only, no values."""
        return [change.path for change in self.changes] + [
            f"{name} (removed)" for name in self.removed_groups
        ]


def make_plan(aws: Aws, *, desired: Desired, old: Desired, live: Mapping[str, Any]) -> Plan:
    """Plan how a living cluster becomes the one asked for; makes no call.

    The request is the whole truth about the cluster's groups: one that lives but is not asked for goes,
    whoever made it.

    Args:
        aws: for the API model.
        desired: what is asked for.
        old: what was asked for before; itself ``desired`` to verify rather than to change. When it is not
            known, whatever lives counts as asked for, as far as it can be taken away.
        live: the cluster as :func:`~.live.as_request` shows it.
    """
    whole = Versions(new=desired.request, old=old.request or live, live=live)
    changes = tuple(
        change
        for change in _changes(aws, whole)
        if not (_autoscaled(change, whole) or _is_idle(change, whole))
        and (old.request or change.new is not None or can_go(change))
    )
    removed = tuple(_removed_groups(whole))
    refusals = [message for change in changes if (message := refusal(change))]
    refusals += [controller_removal(name) for name in removed if _is_controller(live, old, name)]
    cluster = _cluster_step(whole, changes, removed)
    return Plan(
        refusals=tuple(refusals),
        steps=(*([cluster] if cluster else []), *software_steps(changes, desired)),
        changes=changes,
        removed_groups=removed,
    )


def _changes(aws: Aws, whole: Versions) -> Iterator[Change]:
    shape = aws.input_shape("CreateCluster")
    for change in differences(shape, whole, "", _ROOT):
        if change.path not in GROUP_LISTS:
            yield change
    for key in GROUP_LISTS:
        group_shape = shape.members[key].member
        new, old, live = (keyed(part, _group_name) for part in _parts(whole, key))
        for name, group in new.items():
            path = f"{key}[{name}]"
            if name not in live:
                yield Change(path=path, rule=_ROOT, new=group, current=None)
            else:
                versions = Versions(new=group, old=old.get(name), live=live[name])
                yield from differences(group_shape, versions, path, _ROOT)


def _cluster_step(whole: Versions, changes: tuple[Change, ...], removed: tuple[str, ...]) -> Step | None:
    in_place = [change for change in changes if change.rule.policy is Policy.IN_PLACE]
    arguments: dict[str, Any] = {}
    for change in in_place:
        member = change.path.split(".")[0].split("[")[0]
        if member in GROUP_LISTS:
            arguments[member] = _groups_to_send(whole, member)
        else:
            wanted = whole.new.get(member)
            arguments[member] = change.rule.reset if wanted is None else wanted
    if removed:
        arguments["InstanceGroupsToDelete"] = list(removed)
    return Step(key="cluster", operation="update_cluster", arguments=arguments) if arguments else None


def _groups_to_send(whole: Versions, key: str) -> list[dict[str, Any]]:
    """Every group, whole, as the API's examples have it.

    A group keeps the software that it runs: that is a step of its own.
    """
    live = keyed(whole.live.get(key), _group_name)
    groups = []
    for wanted in whole.new[key]:
        group = dict(wanted)
        shown = live.get(group["InstanceGroupName"])
        if shown is not None:
            running = {name: shown[name] for name in _SOFTWARE if name in group and name in shown}
            group.update(running)
        groups.append(group)
    return groups


def _removed_groups(whole: Versions) -> Iterator[str]:
    for key in GROUP_LISTS:
        kept = {_group_name(group) for group in whole.new.get(key, ())}
        yield from (name for group in whole.live.get(key, ()) if (name := _group_name(group)) not in kept)


def _autoscaled(change: Change, whole: Versions) -> bool:
    """Whether an autoscaler, and not the request, decides on the member."""
    return (
        change.name == "InstanceCount" and _scales_itself(whole) and change.new == _old_count(change, whole)
    )


def _is_idle(change: Change, whole: Versions) -> bool:
    """Whether it is the role of autoscaling that is off: the service keeps it, and does nothing with it."""
    return change.path == "ClusterRole" and change.new is None and not _scales_itself(whole)


def _scales_itself(whole: Versions) -> bool:
    return bool(whole.new.get("AutoScaling", {}).get("Mode") == "Enable")


def _old_count(change: Change, whole: Versions) -> Any:
    groups = {
        f"{key}[{_group_name(group)}]": group for key in GROUP_LISTS for group in whole.old.get(key, ())
    }
    return groups.get(change.path.rpartition(".")[0], {}).get("InstanceCount")


def _is_controller(live: Mapping[str, Any], old: Desired, name: str) -> bool:
    groups = [*live.get("InstanceGroups", ()), *old.request.get("InstanceGroups", ())]
    return any(
        _group_name(group) == name and group.get("SlurmConfig", {}).get("NodeType") == "Controller"
        for group in groups
    )


def _parts(whole: Versions, key: str) -> Iterator[Any]:
    versions = whole.member(key)
    return iter((versions.new, versions.old, versions.live))


def _group_name(group: Mapping[str, Any]) -> str:
    return str(group.get("InstanceGroupName", ""))
