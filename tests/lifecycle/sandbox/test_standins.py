"""The stand-ins on hosts: that they behave as what they stand for, and say no where it would."""

import json
from collections.abc import Iterator

import pytest

from hyperpod_cdk.rehearsal.hosts.plan import LUSTRE, OPENZFS, Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox
from tests.lifecycle.sandbox.scenario import disk

pytestmark = pytest.mark.long_nodes
ADDRESS_OF_METADATA = "http://169.254.169.254/latest"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Plan(groups=usual_groups(1, login=0, mounts=[LUSTRE, OPENZFS]))) as made:
        made.up()
        for host in made.hosts.values():
            host.run("mkdir -p /fsx /people")
            host.run(
                "mount", "-t", "lustre", f"{LUSTRE['dns_name']}@tcp:/abcdefgh", "/fsx", "-o", "noatime,flock"
            )
            host.run(
                "mount",
                "-t",
                "nfs",
                "-o",
                "nfsvers=4.2,nconnect=16",
                f"{OPENZFS['dns_name']}:/fsx",
                "/people",
            )
        yield made


def test_mounts_read_as_real_ones(sandbox: Sandbox) -> None:
    lines = sandbox.controller.run("cat", "/proc/mounts").lines
    found = {line.split()[1]: line.split()[:3] for line in lines}
    assert found["/fsx"] == [f"{sandbox.plan.names[LUSTRE['dns_name']]}@tcp:/abcdefgh", "/fsx", "lustre"]
    assert found["/people"] == [f"{OPENZFS['dns_name']}:/fsx", "/people", "nfs4"]
    assert sandbox.controller.run("findmnt", "-no", "FSTYPE", "/people").lines == ["nfs4"]


def test_what_one_host_writes_the_others_have_with_its_owner(sandbox: Sandbox) -> None:
    sandbox.controller.run(
        "cd /fsx && echo text >a && chown 2001:2002 a && chmod 640 a && ln a b && ln -s a c"
    )
    seen = sandbox.compute[0].run("cd /fsx && cat b && stat -c '%u %g %a %h' a && readlink c").lines
    assert seen == ["text", "2001 2002 640 2", "a"]


def test_a_lock_holds_between_hosts(sandbox: Sandbox) -> None:
    sandbox.controller.run("setsid flock /fsx/lock sleep 30 >/dev/null 2>&1 & sleep 0.5")
    assert sandbox.compute[0].run("flock", "--nonblock", "/fsx/lock", "true", check=False).exit_code == 1
    sandbox.controller.run("pkill -f 'sleep 30'")
    sandbox.compute[0].run("flock", "--wait", "5", "/fsx/lock", "true")


def test_openzfs_is_served_by_nfs(sandbox: Sandbox) -> None:
    sandbox.controller.run("echo through >/people/file")
    server = sandbox.plan.names[OPENZFS["dns_name"]]
    answer = sandbox.compute[0].run("nfs-cat", f"nfs://{server}/fsx/file?version=4")
    assert answer.lines == ["through"]


@pytest.mark.parametrize(
    ("kind", "source", "says"),
    [
        ("nfs", f"{OPENZFS['dns_name']}:/other", "No such file or directory"),
        ("nfs", "nowhere.example:/fsx", "resolve"),
        ("lustre", f"{LUSTRE['dns_name']}@tcp:/wrongone", "Is the MGS specification correct?"),
        ("lustre", "nowhere.example@tcp:/abcdefgh", "Can't parse NID"),
        ("lustre", LUSTRE["dns_name"], "not a file system of this kind"),
    ],
)
def test_what_is_not_there_is_not_mounted(sandbox: Sandbox, kind: str, source: str, says: str) -> None:
    sandbox.controller.run("mkdir", "-p", "/other")
    answer = sandbox.controller.run("mount", "-t", kind, source, "/other", check=False)
    assert answer.exit_code != 0
    assert says in answer.output
    assert sandbox.controller.run("findmnt", "/other", check=False).exit_code == 1


def test_metadata_needs_a_token(sandbox: Sandbox) -> None:
    host = sandbox.controller
    without = host.run(
        f"curl -s -o /dev/null -w '%{{http_code}}' {ADDRESS_OF_METADATA}/meta-data/instance-id"
    )
    assert without.output == "401"
    token = host.run(
        f"curl -s -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' {ADDRESS_OF_METADATA}/api/token"
    )
    header = f"X-aws-ec2-metadata-token: {token.output}"
    answer = host.run("curl", "-s", "-H", header, f"{ADDRESS_OF_METADATA}/meta-data/instance-id")
    assert answer.output == sandbox.plan.nodes()["controller-1"]["InstanceId"]


def test_the_cli_reads_secrets_and_objects(sandbox: Sandbox) -> None:
    sandbox.secret("arn:aws:secretsmanager:us-west-2:123456789012:secret:s", json.dumps({"password": "p"}))
    command = "aws secretsmanager get-secret-value --query SecretString --output text --secret-id"
    found = sandbox.controller.run(f"{command} arn:aws:secretsmanager:us-west-2:123456789012:secret:s")
    assert json.loads(found.output) == {"password": "p"}
    assert sandbox.controller.run(f"{command} other", check=False).exit_code == 254
    assert sandbox.controller.run("aws s3 cp s3://none/none /tmp/x", check=False).exit_code == 1


def test_the_look_at_a_disk_sees_content_modes_owners_and_links(sandbox: Sandbox) -> None:
    host = sandbox.controller
    host.run("mkdir -p /etc/looked && echo 1 >/etc/looked/at && echo 1 >/fsx/looked")
    changes = (
        "echo 2 >/etc/looked/at",
        "chmod 600 /etc/looked/at",
        "chown ubuntu /etc/looked/at",
        "ln -sfn other /etc/looked/link",
        "echo 2 >/fsx/looked",
        "rm /etc/looked/at",
    )
    for change in changes:
        before = disk(host)
        host.run("bash", "-c", change)
        assert disk(host) != before, change


def test_a_host_sees_neither_the_machine_nor_its_processes(sandbox: Sandbox) -> None:
    names = sandbox.controller.run("ps -eo args=").output
    assert "pytest" not in names
    assert sandbox.controller.run("curl -s --max-time 3 http://1.1.1.1/", check=False).exit_code != 0
