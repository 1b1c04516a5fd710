"""Writes the baseline: an app that makes the same resources as the library, with L1 constructs only.

What a person would write by hand who knew the template: one typed L1 construct a resource, references by
``Fn.ref`` and ``Fn.get_att``, the same assets staged. It is written from the library's own template at each
benchmark, so that both make the same resources; `benchmarks.pairs` then times it like any other app.
"""

import importlib
import inspect
import json
import subprocess
import sys
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aws_cdk import CfnTag

_HEAD = """\
import sys

from hyperpod_cdk.toolchain import use_packaged_node

use_packaged_node()

import aws_cdk as cdk
{imports}

app = cdk.App(outdir=sys.argv[1])
stack = cdk.Stack(app, {name!r})
ref, get_att, join = cdk.Fn.ref, cdk.Fn.get_att, cdk.Fn.join
"""
_TAIL = "app.synth()\n"
_PLAIN = {
    "Ref": "ref({})",
    "Fn::GetAtt": "get_att({}, {}).to_string()",
    "Fn::Join": "join({}, {})",
    "Fn::Sub": "cdk.Fn.sub({})",
    "Fn::Split": "cdk.Fn.split({}, {})",
    "Fn::Equals": "cdk.Fn.condition_equals({}, {})",
    "Fn::If": "cdk.Fn.condition_if({}, {}, {}).to_string()",
}
"""Intrinsic functions as Python writes them."""
_REMOVAL_POLICIES = {
    "Retain": "RETAIN",
    "RetainExceptOnCreate": "RETAIN_ON_UPDATE_OR_DELETE",
    "Delete": "DESTROY",
}


def write_from(program: Sequence[str], folder: Path, arguments: Sequence[str] = ()) -> Path:
    """Synthesize an app and write the baseline for it.

    Args:
        program: arguments of Python for the app, which takes its output folder and makes one stack.
        folder: where to write.
        arguments: further ones of the app.
    """
    out, target = folder / "library", folder / "level1.py"
    subprocess.run([sys.executable, *program, str(out), *arguments], check=True)
    (template,) = out.glob("*.template.json")
    write(out, template.name.removesuffix(".template.json"), target)
    return target


def write(cloud_assembly: Path, name: str, target: Path) -> None:
    """Write the app.

    Args:
        cloud_assembly: output folder of the library's synthesis.
        name: the stack in it.
        target: the Python file to write.
    """
    template = json.loads((cloud_assembly / f"{name}.template.json").read_text())
    resources: Mapping[str, Mapping[str, Any]] = template["Resources"]
    modules = sorted({_module(item["Type"]) for item in resources.values()} - {"cdk"})
    lines = [
        _HEAD.format(name=name, imports="\n".join(f"from aws_cdk import {module}" for module in modules))
    ]
    lines += [
        f"cdk.AssetStaging(stack, {f'Asset{i}'!r}, source_path={str(path)!r})"
        for i, path in enumerate(sorted(cloud_assembly.glob("asset.*")))
    ]
    lines += [
        f"cdk.CfnCondition(stack, {name!r}, expression={_value(condition)}).override_logical_id({name!r})"
        for name, condition in template.get("Conditions", {}).items()
    ]
    for logical_id, item in resources.items():
        lines += _resource(logical_id, item)
    for logical_id, item in resources.items():
        lines += [
            f"r_{logical_id}.add_resource_dependency(r_{needed})"
            for needed in _as_list(item.get("DependsOn", []))
        ]
    lines += [
        f"cdk.CfnOutput(stack, {key!r}, value={_value(item['Value'])})"
        for key, item in template.get("Outputs", {}).items()
    ]
    target.write_text("\n".join([*lines, _TAIL]), encoding="utf-8")


def _resource(logical_id: str, item: Mapping[str, Any]) -> Iterator[str]:
    kind, properties = item["Type"], item.get("Properties", {})
    if _module(kind) == "cdk":
        arguments = f"type={kind!r}, properties={_value(properties)}"
        yield f"r_{logical_id} = cdk.CfnResource(stack, {logical_id!r}, {arguments})"
    else:
        module = importlib.import_module(f"aws_cdk.{_module(kind)}")
        class_name = f"Cfn{kind.split('::')[2]}"
        made = _struct(getattr(module, class_name), properties, first=f"stack, {logical_id!r}, ")
        yield f"r_{logical_id} = {made}"
    yield f"r_{logical_id}.override_logical_id({logical_id!r})"
    if "DeletionPolicy" in item:
        policy = _REMOVAL_POLICIES[item["DeletionPolicy"]]
        yield f"r_{logical_id}.apply_removal_policy(cdk.RemovalPolicy.{policy})"


def _module(kind: str) -> str:
    service = kind.split("::")[1]
    custom = kind.startswith("Custom::") or service == "CloudFormation"
    return "cdk" if custom else f"aws_{service.lower()}"


def _struct(cls: type, properties: Mapping[str, Any], first: str = "") -> str:
    """A call of an L1 construct or of one of its property types."""
    parameters = {name.replace("_", ""): name for name in inspect.signature(vars(cls)["__init__"]).parameters}
    hints = typing.get_type_hints(vars(cls)["__init__"])
    arguments = []
    for key, value in properties.items():
        name = parameters[key.lower()]
        arguments.append(f"{name}={_typed(value, hints[name])}")
    owner = cls.__module__.rsplit(".", 1)[-1]
    return f"{owner}.{cls.__qualname__}({first}{', '.join(arguments)})"


def _typed(value: Any, hint: Any) -> str:
    struct = _struct_in(hint)
    if struct is CfnTag:
        tags = (f"cdk.CfnTag(key={tag['Key']!r}, value={_value(tag['Value'])})" for tag in value)
        return f"[{', '.join(tags)}]"
    if struct is not None and isinstance(value, list):
        return f"[{', '.join(_struct(struct, one) for one in value)}]"
    if struct is not None and not _is_intrinsic(value):
        return _struct(struct, value)
    return _value(value)


def _struct_in(hint: Any) -> type | None:
    """The property type that a parameter takes, if it takes one."""
    if inspect.isclass(hint):
        return hint if hint is CfnTag or hint.__name__.endswith("Property") else None
    return next(filter(None, map(_struct_in, typing.get_args(hint))), None)


def _is_intrinsic(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)).startswith(("Fn::", "Ref"))


def _value(value: Any) -> str:
    if _is_intrinsic(value):
        return _intrinsic(*next(iter(value.items())))
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)


def _intrinsic(name: str, argument: Any) -> str:
    if name in _PLAIN:
        return _PLAIN[name].format(*map(_value, argument if isinstance(argument, list) else [argument]))
    if name == "Fn::Select":
        return f"cdk.Fn.select({int(argument[0])}, {_value(argument[1])})"
    raise ValueError(f"the baseline cannot write {name} yet")


def _as_list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
