"""The stand-ins of AWS's services, asked without a host."""

import json
import socket
import struct
import threading
import time
from pathlib import Path

import pytest

from hyperpod_cdk.rehearsal.hosts.forwarding import forwarded
from hyperpod_cdk.rehearsal.hosts.standins import services


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(services, "FOLDER", tmp_path)
    (tmp_path / "names.json").write_text(json.dumps({"fs-1.example": "10.1.255.1"}))
    return tmp_path


def ask(name: str, kind: int) -> tuple[int, bytes]:
    """The answer's code, and the data of its one record."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    query = (
        b"\x12\x34" + struct.pack(">HHHHH", 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", kind, 1)
    )
    answer = services.dns_answer(query)
    assert answer[:2] == b"\x12\x34"
    flags, _, count = struct.unpack(">HHH", answer[2:8])
    return flags & 0xF, answer[len(query) + 12 :] if count else b""


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("fs-1.example", "10.1.255.1"),
        ("FS-1.Example", "10.1.255.1"),
        ("ip-10-1-0-12", "10.1.0.12"),
        ("ip-10-1-0-12.us-west-2.compute.internal", "10.1.0.12"),
        ("s3.us-west-2.amazonaws.com", services.DNS_ADDRESS),
    ],
)
def test_names(folder: Path, name: str, address: str) -> None:
    assert ask(name, services.TYPE_A) == (0, socket.inet_aton(address))
    assert ask(name, 28) == (0, b""), "an address of version 6"


def test_a_name_that_is_not_there(folder: Path) -> None:
    assert ask("nowhere.example", services.TYPE_A) == (services.NXDOMAIN, b"")


def test_the_name_of_an_address(folder: Path) -> None:
    code, data = ask("12.0.1.10.in-addr.arpa", services.TYPE_PTR)
    assert code == 0
    assert b"ip-10-1-0-12" in data


def test_late_and_failing_services(folder: Path) -> None:
    rules = {
        "dns": {"answers_from": time.time() + 60},
        "secrets": {"answers_from": 1.0},
        "mirror": {"fails": 2, "id": "a"},
    }
    (folder / "control.json").write_text(json.dumps(rules))
    assert services.late("dns")
    assert not services.late("secrets")
    assert not services.late("metadata")
    faults = services.Faults()
    assert [faults.strike("mirror") for _ in range(3)] == [True, True, False]
    assert not faults.strike("s3")


def test_a_socket_that_leads_to_a_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def echo() -> None:
            connection, _ = server.accept()
            with connection:
                while piece := connection.recv(1024):
                    connection.sendall(piece.upper())

        threading.Thread(target=echo, daemon=True).start()
        with (
            forwarded(tmp_path / "socket", host="127.0.0.1", port=server.getsockname()[1]),
            socket.socket(socket.AF_UNIX) as client,
        ):
            client.connect(str(tmp_path / "socket"))
            client.sendall(b"through")
            client.shutdown(socket.SHUT_WR)
            assert client.recv(100) == b"THROUGH"
