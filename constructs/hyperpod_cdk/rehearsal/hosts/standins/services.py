"""Plays the AWS services that nodes speak to: DNS, instance metadata, S3, Secrets Manager, a package mirror.

Run in a room's network as ``services.py FOLDER``. What it serves and what goes wrong are files of it:
``hosts.json`` (by address), ``names.json`` (DNS), ``control.json`` (faults), ``secrets.json``,
``s3/BUCKET/KEY`` and ``mirror/``. With a Unix socket ``aws.sock`` there, requests to S3 and Secrets Manager
go through it to an embedded AWS instead.
"""

import http.client
import http.server
import json
import re
import socket
import socketserver
import struct
import sys
import threading
import time
import urllib.parse
from http import HTTPStatus
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
DNS_ADDRESS, HTTP_PORT, DNS_PORT = "169.254.169.253", 80, 53
METADATA = "169.254.169.254"
NODE_NAME = re.compile(r"ip-(\d+)-(\d+)-(\d+)-(\d+)(\..*)?")
AWS_NAME = re.compile(r"(.+\.)?(amazonaws\.com(\.cn)?|api\.aws|mirror\.sandbox)")
TYPE_A, TYPE_PTR, NXDOMAIN = 1, 12, 3
REVERSE = re.compile(r"(\d+)\.(\d+)\.(\d+)\.(\d+)\.in-addr\.arpa")
DOMAIN = "us-west-2.compute.internal"


def load(name: str) -> dict[str, Any]:
    """A file of the folder; empty when it is not there yet."""
    try:
        content: dict[str, Any] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return content


def late(service: str) -> bool:
    """Whether a service does not answer yet."""
    return bool(load("control.json").get(service, {}).get("answers_from", 0) > time.time())


class Faults:
    """Counts how often something still has to fail."""

    def __init__(self) -> None:
        self._spent: dict[str, int] = {}
        self._lock = threading.Lock()

    def strike(self, service: str) -> bool:
        """Whether this request is one of those that fail."""
        rule = load("control.json").get(service, {})
        key = f"{service}/{rule.get('id')}"
        with self._lock:
            self._spent[key] = self._spent.get(key, 0) + 1
            return self._spent[key] <= int(rule.get("fails", 0))


FAULTS = Faults()


# -- DNS ---------------------------------------------------------------------------------------------------


def resolve(name: str) -> str | None:
    """The address of a name, as a VPC's resolver would give it."""
    known = load("names.json")
    if name in known:
        return str(known[name])
    found = NODE_NAME.fullmatch(name)
    if found:
        return ".".join(found.groups()[:4])
    return DNS_ADDRESS if AWS_NAME.fullmatch(name) else None


def record(name: str, kind: int) -> bytes | None:
    """What a name has of a type; empty when it has only others, None when there is no such name."""
    reverse = REVERSE.fullmatch(name)
    if reverse:
        host = "ip-" + "-".join(reversed(reverse.groups()))
        labels = [label.encode() for label in f"{host}.{DOMAIN}".split(".")]
        return b"".join(bytes([len(label)]) + label for label in labels) + b"\0" if kind == TYPE_PTR else b""
    address = resolve(name)
    if address is None:
        return None
    return socket.inet_aton(address) if kind == TYPE_A else b""


def dns_answer(query: bytes) -> bytes:
    """The answer to one question."""
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("ascii", "replace"))
        at += 1 + query[at]
    question = query[12 : at + 5]
    (kind,) = struct.unpack(">H", query[at + 1 : at + 3])
    found = record(".".join(labels).lower(), kind)
    answer = b""
    if found:
        answer = b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 5, len(found)) + found
    flags = 0x8180 | (NXDOMAIN if found is None else 0)
    return query[:2] + struct.pack(">HHHHH", flags, 1, bool(answer), 0, 0) + question + answer


class Dns(socketserver.BaseRequestHandler):
    """One datagram."""

    def handle(self) -> None:
        """Answer, unless the resolver is to be silent."""
        data, sock = self.request
        if not late("dns"):
            sock.sendto(dns_answer(data), self.client_address)


# -- HTTP --------------------------------------------------------------------------------------------------


class Http(http.server.BaseHTTPRequestHandler):
    """One connection to any of the services, told apart by where it was made to and by its Host header."""

    protocol_version = "HTTP/1.1"

    def handle_any(self) -> None:
        """Hand the request to its service."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        host = self.headers.get("Host", "").split(":")[0]
        if self.connection.getsockname()[0] == METADATA:
            self.metadata()
        elif host == "mirror.sandbox":
            self.mirror()
        elif (FOLDER / "aws.sock").exists():
            self.forward(body)
        elif host.startswith("secretsmanager"):
            self.secrets(json.loads(body or b"{}"))
        else:
            self.s3(host)

    do_GET = do_PUT = do_POST = do_HEAD = handle_any  # noqa: N815 (the names that the base class calls)

    def metadata(self) -> None:
        """The instance metadata service, version 2."""
        if late("metadata"):
            time.sleep(30)  # packets are dropped: the caller's own limit ends its wait
            return
        facts = load("hosts.json").get(self.client_address[0], {})
        path = self.path.split("?")[0].rstrip("/")
        if path == "/latest/api/token" and self.command == "PUT":
            self.reply("sandbox-token", headers={"X-aws-ec2-metadata-token-ttl-seconds": "21600"})
        elif self.headers.get("X-aws-ec2-metadata-token") is None:
            self.reply("", HTTPStatus.UNAUTHORIZED)
        else:
            value = facts.get(path.removeprefix("/latest/"))
            self.reply(value or "", HTTPStatus.OK if value else HTTPStatus.NOT_FOUND)

    def mirror(self) -> None:
        """A mirror of packages and downloads."""
        if FAULTS.strike("mirror"):
            self.reply("Service Unavailable", HTTPStatus.SERVICE_UNAVAILABLE)
            return
        file = FOLDER / "mirror" / urllib.parse.unquote(self.path).split("?")[0].lstrip("/")
        self.file(file)

    def s3(self, host: str) -> None:
        """GetObject and ListObjectsV2, with the bucket in the path or in the host's name."""
        path, _, query = self.path.partition("?")
        parts = urllib.parse.unquote(path).lstrip("/")
        if not host.startswith("s3"):
            parts = f"{host.partition('.s3')[0]}/{parts}"
        bucket, _, key = parts.partition("/")
        if key:
            self.file(FOLDER / "s3" / bucket / key)
            return
        root = FOLDER / "s3" / bucket
        prefix = urllib.parse.parse_qs(query).get("prefix", [""])[0]
        keys = sorted(file.relative_to(root).as_posix() for file in root.rglob("*") if file.is_file())
        rows = "".join(
            f"<Contents><Key>{escape(key)}</Key></Contents>" for key in keys if key.startswith(prefix)
        )
        self.reply(f"<ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>")

    def secrets(self, request: dict[str, Any]) -> None:
        """GetSecretValue by name or ARN."""
        if late("secrets"):
            self.reply("{}", HTTPStatus.SERVICE_UNAVAILABLE)
            return
        value = load("secrets.json").get(request.get("SecretId", ""))
        if value is None:
            text = {
                "__type": "ResourceNotFoundException",
                "Message": "Secrets Manager can't find the secret.",
            }
            self.reply(json.dumps(text), HTTPStatus.BAD_REQUEST)
            return
        self.reply(
            json.dumps({"ARN": request["SecretId"], "Name": request["SecretId"], "SecretString": value})
        )

    def forward(self, body: bytes) -> None:
        """Let the embedded AWS answer."""
        upstream = http.client.HTTPConnection("localhost")
        upstream.sock = socket.socket(socket.AF_UNIX)
        upstream.sock.settimeout(60)
        upstream.sock.connect(str(FOLDER / "aws.sock"))
        headers = {key: value for key, value in self.headers.items() if key.lower() != "connection"}
        upstream.request(self.command, self.path, body or None, {**headers, "Connection": "close"})
        answer = upstream.getresponse()
        kept = {
            key: value
            for key, value in answer.getheaders()
            if key.lower().startswith(("x-amz", "content-type"))
        }
        self.reply(answer.read(), HTTPStatus(answer.status), headers=kept)

    def file(self, path: Path) -> None:
        """Send a file's bytes."""
        if path.is_file():
            self.reply(path.read_bytes())
        else:
            self.reply("<Error><Code>NoSuchKey</Code></Error>", HTTPStatus.NOT_FOUND)

    def reply(
        self,
        content: str | bytes,
        status: HTTPStatus = HTTPStatus.OK,
        *,
        headers: dict[str, str] | None = None,
    ) -> None:
        """Send an answer."""
        data = content.encode() if isinstance(content, str) else content
        self.send_response(status)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_arguments: object) -> None:
        """Write what was asked to the server's log."""
        print(f"{time.time():.3f} {self.client_address[0]} {self.command} {self.path}", flush=True)


class Server(http.server.ThreadingHTTPServer):
    """Takes as many connections at once as a large cluster makes."""

    request_queue_size = 512
    daemon_threads = True


class DnsServer(socketserver.ThreadingUDPServer):
    """One thread a question."""

    daemon_threads = True
    max_packet_size = 4096


def main() -> None:
    """Serve until killed."""
    dns = DnsServer((DNS_ADDRESS, DNS_PORT), Dns)
    threading.Thread(target=dns.serve_forever, daemon=True).start()
    with Server(("0.0.0.0", HTTP_PORT), Http) as server:
        (FOLDER / "serving").touch()
        server.serve_forever()


if __name__ == "__main__":
    main()
