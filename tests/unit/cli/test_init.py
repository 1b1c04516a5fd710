"""A first configuration: by options, by questions, in every combination valid."""

import itertools
import json
from pathlib import Path

import pytest

from hyperpod_cdk.cli import main
from hyperpod_cdk.commands.starter.answers import answer
from hyperpod_cdk.commands.starter.questions import QUESTIONS
from hyperpod_cdk.commands.starter.tree import starter
from hyperpod_cdk.config import read_text, schema
from hyperpod_cdk.rules import check
from hyperpod_cdk.service.eks import ZONES_WITHOUT_EKS
from hyperpod_cdk.service.governance import POLICY_REGIONS
from hyperpod_cdk.spec import AddOn, EksOrchestrator, TaskGovernance
from tests.unit.cli.terminal import Terminal
from tests.unit.eks.charts import write_chart

VPC = {
    "vpc_id": "vpc-0a1b2c3d4e5f60001",
    "subnet_id": "subnet-0a1b2c3d4e5f60001",
    "security_group_id": "sg-0a1b2c3d4e5f60001",
}
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p5"
CHOICES: tuple[tuple[dict[str, str], ...], ...] = (
    ({}, {"region": "eu-north-1"}, {"region": "us-east-1", "zone": "use1-az6"}),
    (
        {},
        {"instance_type": "ml.p5.48xlarge", "instance_count": "16"},
        {"instance_type": "p4d.24xlarge"},
        {"instance_type": "ml.trn1.32xlarge", "training_plan_arn": PLAN},
        {"instance_type": "ml.g5.12xlarge", "instance_count": "1"},
    ),
    ({"login": "yes"}, {"login": "no"}),
    ({"lustre": "0"}, {"lustre": "1200"}, {"lustre": "9600"}),
    ({"home": "yes"}, {"home": "no"}),
    ({"internet": "yes"}, {"internet": "no"}, VPC),
)


EKS = {"orchestrator": "eks"}
TWO_SUBNETS = {**VPC, "second_subnet_id": "subnet-0a1b2c3d4e5f60002"}
ADMIN = "arn:aws:iam::111122223333:role/platform-admin"
EKS_CHOICES: tuple[tuple[dict[str, str], ...], ...] = (
    (
        {"region": "eu-north-1"},
        {"region": "us-east-1", "zone": "use1-az6"},
        {"region": "us-east-1", "second_zone": "use1-az4"},
        {"region": "us-west-1"},
        {"region": "ca-central-1"},
    ),
    CHOICES[1],
    ({"training_operator": "yes"}, {"training_operator": "no"}),
    ({"task_governance": "yes"}, {"task_governance": "no"}),
    ({}, {"admin_role_arn": ADMIN}),
    ({"internet": "yes"}, {"internet": "no"}, TWO_SUBNETS),
)


def combined(parts: tuple[dict[str, str], ...]) -> dict[str, str]:
    """One set of answers; with what an existing VPC and homes need together."""
    texts = {key: text for part in parts for key, text in part.items()}
    if "training_plan_arn" in texts:
        texts["training_plan_arn"] = PLAN.replace("us-west-2", texts.get("region", "us-west-2"))
    if texts.get("region") not in POLICY_REGIONS:
        texts.pop("task_governance", None)
    if "vpc_id" in texts and texts.get("home") == "yes":
        texts["vpc_cidr"] = "10.20.0.0/16"
    return texts


def test_every_combination_of_answers_breaks_no_rule() -> None:
    """Not even a warning, in any of 540."""
    assert told_of(CHOICES, {}) == {}


def test_every_combination_of_answers_on_eks_breaks_no_rule(tmp_path: Path) -> None:
    """The same for 600, once the chart is there; before, nothing but the chart is missing."""
    chart = write_chart(tmp_path / "chart")
    told = told_of(EKS_CHOICES, {**EKS, "chart": str(chart)})
    assert {one.split()[2] for found in told.values() for one in found} == {"HP565"}
    # only of device plugins, whose images have to be brought to where there is no internet
    assert all(json.loads(answers)["internet"] == "no" for answers in told)
    assert all("device-plugin" in one and "-operator" not in one for found in told.values() for one in found)
    told = told_of(tuple(choices[:1] for choices in EKS_CHOICES), EKS)
    assert [[one.split()[1:4] for one in found] for found in told.values()] == [
        [["error", "HP512", "cluster.orchestrator.eks.helm_chart.path"]]
    ]


def told_of(choices: tuple[tuple[dict[str, str], ...], ...], always: dict[str, str]) -> dict[str, list[str]]:
    """Findings by the answers that bring them."""
    wrong = {}
    for parts in itertools.product(*choices):
        texts = combined((always, *parts))
        config = read_text(starter(answer(texts), schema="s.json"), file="my-cluster.yaml")
        findings = config.placed(check(config.spec))
        if findings:
            wrong[json.dumps(texts)] = [str(one) for one in findings]
    return wrong


def test_answers_arrive_in_the_spec() -> None:
    texts = {
        **combined(({"home": "yes", "lustre": "2400", "login": "no"}, VPC)),
        "name": "big",
        "region": "eu-north-1",
        "zone": "eun1-az3",
        "instance_type": "ml.p5.48xlarge",
        "instance_count": "7",
        "training_plan_arn": PLAN.replace("us-west-2", "eu-north-1"),
    }
    text = starter(answer(texts), schema="s.json")
    assert "-\n" not in text, "each item begins on the line of its dash"
    spec = read_text(text, file="x.yaml").spec
    assert (spec.stack_name, spec.cluster.cluster_name, spec.region) == ("big", "big", "eu-north-1")
    controller, compute = spec.cluster.instance_groups
    assert (compute.instance_type, compute.instance_count) == ("ml.p5.48xlarge", 7)
    assert compute.training_plan_arn == texts["training_plan_arn"]
    assert [mount.storage for mount in controller.mounts] == ["shared", "home"]
    existing = spec.network.existing
    assert existing is not None
    assert (existing.vpc_id, existing.vpc_cidr) == (VPC["vpc_id"], "10.20.0.0/16")
    assert existing.subnets[0].availability_zone_id == "eun1-az3"
    assert list(existing.security_group_ids) == [VPC["security_group_id"]]


def test_answers_on_eks_arrive_in_the_spec() -> None:
    texts = {
        **EKS,
        **TWO_SUBNETS,
        "region": "us-east-1",
        "chart": "charts/mine",
        "training_operator": "no",
        "task_governance": "yes",
        "admin_role_arn": ADMIN,
        "instance_type": "ml.p5.48xlarge",
    }
    spec = read_text(starter(answer(texts), schema="s.json"), file="/a/x.yaml").spec
    eks = spec.cluster.orchestrator.eks
    assert eks
    assert eks.helm_chart
    assert eks.helm_chart.path == "/a/charts/mine"
    assert (eks.training_operator, eks.task_governance) == (None, TaskGovernance())
    assert [entry.principal_arn for entry in eks.access] == [ADMIN]
    assert spec.network.existing
    assert [one.subnet_id for one in spec.network.existing.subnets] == [
        TWO_SUBNETS["subnet_id"],
        TWO_SUBNETS["second_subnet_id"],
    ]
    (group,) = spec.cluster.instance_groups
    assert group.override_vpc_config
    assert list(group.override_vpc_config.subnet_ids) == [TWO_SUBNETS["subnet_id"]]
    plain = read_text(starter(answer(EKS), schema="s.json"), file="/a/x.yaml").spec.cluster.orchestrator.eks
    assert plain
    assert plain.training_operator == AddOn()
    assert plain.task_governance is EksOrchestrator().task_governance


@pytest.mark.parametrize("region", ["us-east-1", "us-west-1", "ca-central-1", "us-west-2"])
def test_zones_that_are_offered_take_control_planes(region: str) -> None:
    answers = answer({**EKS, "region": region})
    assert answers["zone"] != answers["second_zone"]
    assert not {answers["zone"], answers["second_zone"]} & ZONES_WITHOUT_EKS


@pytest.mark.parametrize(
    ("texts", "faults"),
    [
        ({"name": "9x"}, ["--name: '9x' can not name a cluster"]),
        ({"name": "a--b-"}, ["--name: 'a--b-'"]),
        ({"region": "moon"}, ["--region: 'moon' is no Region"]),
        ({"zone": "us-west-2a"}, ["--zone: 'us-west-2a' is no zone id, such as usw2-az2"]),
        ({"zone": "use1-az1"}, ["--zone: 'use1-az1' is not in us-west-2, whose zones begin with usw2"]),
        ({"instance_type": "ml.p5"}, ["--instance-type: 'ml.p5' is no instance type; nearest: ml.p5"]),
        ({"instance_count": "0"}, ["--instance-count: '0' is no number of nodes"]),
        ({"instance_count": "many"}, ["--instance-count: 'many'"]),
        ({"lustre": "3600"}, ["--lustre: '3600' is no capacity: 0 for none", "nearest: 2400, 4800"]),
        ({"training_plan_arn": "p5"}, ["--training-plan-arn: 'p5' is no ARN of a training plan"]),
        ({"training_plan_arn": PLAN, "region": "us-east-1"}, [f"'{PLAN}' is in us-west-2, and the"]),
        ({"vpc_id": "x"}, ["--vpc-id: 'x' is no id such as vpc-"]),
        ({"vpc_id": VPC["vpc_id"]}, ["--subnet-id: the id of a private", "--security-group-id: the id of a"]),
        ({"subnet_id": VPC["subnet_id"]}, ["--subnet-id: means nothing here; it is for --vpc-id"]),
        ({**VPC, "internet": "no"}, ["--internet: means nothing here; it is for a new VPC"]),
        ({"orchestrator": "pbs"}, ["--orchestrator: 'pbs' is neither slurm nor eks"]),
        ({**EKS, "login": "yes"}, ["--login: means nothing here; it is for clusters on Slurm"]),
        ({**EKS, "lustre": "1200"}, ["--lustre: means nothing here; it is for clusters on Slurm"]),
        ({"chart": "x"}, ["--chart: means nothing here; it is for --orchestrator eks"]),
        ({"second_zone": "usw2-az1"}, ["--second-zone: means nothing here; it is for --orchestrator eks"]),
        ({**EKS, "second_zone": "usw2-az2"}, ["--second-zone: 'usw2-az2' is the first already"]),
        (
            {**EKS, "zone": "usw2-az1", "second_zone": "use1-az2"},
            ["--second-zone: 'use1-az2' is not in us-west"],
        ),
        ({**EKS, "region": "us-west-1", "zone": "usw1-az2"}, ["--zone: 'usw1-az2' takes no control plane"]),
        (
            {**EKS, "region": "ca-central-1", "task_governance": "yes"},
            ["--task-governance: means nothing here"],
        ),
        ({**EKS, "admin_role_arn": "root"}, ["--admin-role-arn: 'root' is no ARN of a role"]),
        ({**EKS, "chart": ""}, ["--chart: a folder has a name"]),
        ({**EKS, **VPC}, ["--second-subnet-id: the id of a private subnet in the other zone is needed"]),
        ({**TWO_SUBNETS}, ["--second-subnet-id: means nothing here; it is for --vpc-id and --orchestrator"]),
        ({"region": "moon", "lustre": "-1"}, ["--region: 'moon'", "--lustre: '-1'"]),
    ],
)
def test_wrong_answers_are_told_all_at_once(texts: dict[str, str], faults: list[str]) -> None:
    with pytest.raises(ValueError, match="--") as caught:
        answer(texts)
    assert [fault for fault in faults if fault not in str(caught.value)] == []


def test_it_writes_a_file_and_the_schema_and_overwrites_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "trial"]) == 0
    assert "wrote trial.yaml" in capsys.readouterr().out
    text = Path("trial.yaml").read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=hyperpod.schema.json\n")
    assert json.loads(Path("hyperpod.schema.json").read_text(encoding="utf-8")) == schema()
    assert main(["validate", "--strict", "trial.yaml"]) == 0
    capsys.readouterr()
    assert main(["init", "trial", "--lustre", "0"]) == 2
    assert "trial.yaml is there already" in capsys.readouterr().err
    assert Path("trial.yaml").read_text(encoding="utf-8") == text


def test_unknown_types_are_taken_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "-o", "new.yaml", "--instance-type", "ml.p9.48xlarge"]) == 0
    assert "warning HP111" in capsys.readouterr().out
    assert main(["init", "-o", "nowhere/new.yaml"]) == 2
    assert "nowhere/new.yaml: no such file or directory" in capsys.readouterr().err


def test_standard_output_holds_the_yaml_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "-o", "-", "--no-login", "--no-internet"]) == 0
    spec = read_text(capsys.readouterr().out, file="x.yaml").spec
    assert str(spec.network.nat_gateways) == "none"
    assert list(tmp_path.iterdir()) == []


def test_every_question_has_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--help"]) == 0
    text = capsys.readouterr().out
    assert [one.option for one in QUESTIONS if one.name != "name" and one.option not in text] == []


def test_on_a_terminal_it_asks_again_and_again_until_an_answer_is_right(tmp_path: Path) -> None:
    terminal = Terminal("init", "--no-login", folder=tmp_path)
    for question, typed in (
        ("Name of the cluster [my-cluster]", "9"),
        ("'9' can not name a cluster", "talk"),
        ("What runs the jobs, slurm or eks [slurm]", ""),
        ("Region [us-west-2]", "eu-north-1"),
        ("by its id: where your capacity is [eun1-az2]", ""),
        ("Instance type", "p5.48xlarge"),
        ("How many of them [2]", "4"),
        ("training plan", ""),
        ("GiB of shared Lustre storage (0: none) [1200]", "0"),
        ("Home directories on OpenZFS [no]", "yes"),
        ("Id of the VPC", ""),
        ("NAT gateway [yes]", "no"),
    ):
        terminal.until(f"{question}")
        terminal.type(typed)
    assert terminal.code() == 0
    assert "login node" not in terminal.screen, "an option answers it"
    spec = read_text((tmp_path / "talk.yaml").read_text(encoding="utf-8"), file="talk.yaml").spec
    assert spec.network.availability_zone_ids == ["eun1-az2"]
    assert [group.instance_type for group in spec.cluster.instance_groups] == [
        "ml.c5.xlarge",
        "ml.p5.48xlarge",
    ]


def test_on_a_terminal_it_asks_for_eks(tmp_path: Path) -> None:
    terminal = Terminal("init", "platform", "--orchestrator", "EKS", folder=tmp_path)
    for question, typed in (
        ("Region [us-west-2]", "us-east-1"),
        ("by its id: where your capacity is [use1-az2]", "use1-az4"),
        ("Another zone, for the control plane [use1-az2]", "use1-az4"),
        ("'use1-az4' is the first already", "use1-az1"),
        ("Instance type", "p5.48xlarge"),
        ("How many of them [2]", "4"),
        ("training plan", ""),
        ("Folder of HyperPod's chart, which `hyperpod-cdk chart` gets [HyperPodHelmChart]", ""),
        ("The training operator, for jobs that recover by themselves [yes]", ""),
        ("Task governance: queues and quotas of teams [no]", ""),
        ("administers Kubernetes (Enter: none yet)", ADMIN),
        ("Id of the VPC", ""),
        ("NAT gateway [yes]", ""),
    ):
        terminal.until(question)
        terminal.type(typed)
    assert terminal.code() == 0
    assert "hyperpod-cdk chart --output HyperPodHelmChart, then hyperpod-cdk validate" in terminal.screen
    assert "HP512" not in terminal.screen, "the next step says it"
    assert "Slurm" not in terminal.screen
    assert "OpenZFS" not in terminal.screen
    spec = read_text((tmp_path / "platform.yaml").read_text(encoding="utf-8"), file="platform.yaml").spec
    assert spec.network.availability_zone_ids == ["use1-az4", "use1-az1"]


def test_the_next_step_is_the_chart_until_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    assert main(["init", "-o", "sub/one.yaml", "--orchestrator", "eks"]) == 0
    out = capsys.readouterr().out
    assert (
        "next: hyperpod-cdk chart --output sub/HyperPodHelmChart, then hyperpod-cdk validate sub/one.yaml"
        in out
    )
    assert len(out.splitlines()) == 1
    assert "#     hyperpod-cdk chart --output HyperPodHelmChart" in Path("sub/one.yaml").read_text(
        encoding="utf-8"
    )
    assert main(["validate", "sub/one.yaml"]) == 1
    assert "HP512" in capsys.readouterr().out
    write_chart(tmp_path / "sub" / "HyperPodHelmChart")
    assert main(["validate", "--strict", "sub/one.yaml"]) == 0
    capsys.readouterr()
    assert main(["init", "-o", "sub/two.yaml", "--orchestrator", "eks"]) == 0
    out = capsys.readouterr().out
    assert out.endswith("next: hyperpod-cdk validate sub/two.yaml\n")


def test_a_chart_that_is_there_and_torn_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_chart(tmp_path / "HyperPodHelmChart", without="storage")
    assert main(["init", "-o", "one.yaml", "--orchestrator", "eks"]) == 0
    assert "lacks storage under charts/" in capsys.readouterr().out


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    terminal = Terminal("init", folder=tmp_path)
    terminal.until("Name of the cluster")
    assert terminal.interrupted() == 130
    assert "Traceback" not in terminal.screen
    assert list(tmp_path.iterdir()) == []
