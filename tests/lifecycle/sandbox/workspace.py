"""Plays the remote-write endpoint of a Prometheus workspace: ``workspace.py FOLDER``, in a room's network.

It holds requests to what Amazon Managed Service for Prometheus holds them to: TLS, a signature of version 4
for the service ``aps`` in its Region, made with the credentials of the node's role and not long ago, and a
body that is a snappy block of a protobuf WriteRequest (remote-write 1.0). The signature is computed
anew by botocore. FOLDER has ``cert.pem``, ``key.pem`` and ``known.json`` (region, workspace, access_key,
secret_key, token); what came goes to ``requests.jsonl``.
"""

import datetime as dt
import hashlib
import http.server
import json
import re
import ssl
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
PATH = re.compile(r"/workspaces/([\w-]+)/api/v1/remote_write")
AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, ?"
    r"SignedHeaders=([\w;-]+), ?Signature=([0-9a-f]{64})"
)
SKEW = dt.timedelta(minutes=5)
DATE = "%Y%m%dT%H%M%SZ"


class RefusedError(Exception):
    """A request that the endpoint does not take."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def check_signature(method: str, url: str, headers: dict[str, str], body: bytes, known: Any) -> None:
    """Compute a request's signature anew.

    Raises:
        RefusedError: it has another one, or none.
    """
    found = AUTHORIZATION.fullmatch(headers.get("authorization", ""))
    if found is None:
        raise RefusedError(403, "Missing Authentication Token")
    access_key, day, region, service, signed, signature = found.groups()
    if (region, service) != (known["region"], "aps"):
        raise RefusedError(
            403, f"Credential should be scoped to {known['region']}/aps, not {region}/{service}"
        )
    if access_key != known["access_key"] or headers.get("x-amz-security-token") != known["token"]:
        raise RefusedError(403, "The security token included in the request is invalid")
    moment = dt.datetime.strptime(headers["x-amz-date"], DATE).replace(tzinfo=dt.UTC)
    if abs(dt.datetime.now(dt.UTC) - moment) > SKEW or not headers["x-amz-date"].startswith(day):
        raise RefusedError(403, "Signature expired")
    names = signed.split(";")
    if not {"host", "x-amz-date", "x-amz-security-token"} <= set(names):
        raise RefusedError(403, f"not signed: host, x-amz-date or x-amz-security-token, but {signed}")
    if headers.get("x-amz-content-sha256") not in (None, hashlib.sha256(body).hexdigest()):
        raise RefusedError(403, "x-amz-content-sha256 is not that of the body")
    request = AWSRequest(method, url, headers={name: headers[name] for name in names}, data=body)
    request.context["timestamp"] = headers["x-amz-date"]
    signer = SigV4Auth(Credentials(access_key, known["secret_key"], known["token"]), service, region)
    canonical = signer.canonical_request(request)
    if signer.signature(signer.string_to_sign(request, canonical), request) != signature:
        raise RefusedError(
            403, "The request signature we calculated does not match the signature you provided"
        )


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


def unsnappy(data: bytes) -> bytes:
    """The content of a snappy block (format_description.txt of snappy)."""
    size, at = varint(data, 0)
    out = bytearray()
    while at < len(data):
        tag, at = data[at], at + 1
        kind, length = tag & 3, tag >> 2
        if kind == 0:
            if length >= 60:
                width = length - 59
                length, at = int.from_bytes(data[at : at + width], "little"), at + width
            out += data[at : at + length + 1]
            at += length + 1
            continue
        if kind == 1:
            length, offset, at = (length & 7) + 4, (tag >> 5) << 8 | data[at], at + 1
        else:
            width = 2 if kind == 2 else 4
            length, offset, at = length + 1, int.from_bytes(data[at : at + width], "little"), at + width
        for _ in range(length):
            out.append(out[-offset])
    if len(out) != size:
        raise ValueError(f"{len(out)} bytes instead of {size}")
    return bytes(out)


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a protobuf message: numbers and their values."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = varint(data, at)
            yield number, value
        elif kind == 1:
            yield number, struct.unpack_from("<d", data, at)[0]
            at += 8
        elif kind == 2:
            length, at = varint(data, at)
            yield number, data[at : at + length]
            at += length
        else:
            raise ValueError(f"wire type {kind}")


def series(body: bytes) -> list[dict[str, Any]]:
    """Labels and newest value of every series of a WriteRequest."""
    found = []
    for number, message in fields(unsnappy(body)):
        if number != 1:
            continue
        parts = list(fields(message))
        labels = [dict(fields(part)) for one, part in parts if one == 1]
        samples = [dict(fields(part)) for one, part in parts if one == 2]
        names = {label[1].decode(): label[2].decode() for label in labels}
        found.append({"labels": names, "value": str(samples[-1].get(1, 0.0)) if samples else None})
    return found


class Handler(http.server.BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Take a WriteRequest."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        seen: dict[str, Any] = {"status": 200, "message": "", "series": []}
        try:
            seen["series"] = self.take(body)
        except RefusedError as error:
            seen |= {"status": error.status, "message": str(error)}
        except (ValueError, IndexError, KeyError) as error:
            seen |= {"status": 400, "message": f"malformed: {error!r}"}
        with (FOLDER / "requests.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({**seen, "from": self.client_address[0]}) + "\n")
        text = json.dumps({"message": seen["message"]}).encode() if seen["message"] else b""
        self.send_response(seen["status"])
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def take(self, body: bytes) -> list[dict[str, Any]]:
        """Check a request; the series in it."""
        known = json.loads((FOLDER / "known.json").read_text(encoding="utf-8"))
        headers = {name.lower(): value for name, value in self.headers.items()}
        found = PATH.fullmatch(self.path)
        check_signature("POST", f"https://{headers['host']}{self.path}", headers, body, known)
        if found is None or found[1] != known["workspace"]:
            raise RefusedError(404, "workspace not found")
        if headers.get("content-encoding") != "snappy":
            raise RefusedError(400, "no snappy body")
        return series(body)

    def log_message(self, *_arguments: object) -> None:
        """Print nothing."""


def main() -> None:
    """Serve until killed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(FOLDER / "cert.pem", FOLDER / "key.pem")
    with http.server.ThreadingHTTPServer(("0.0.0.0", 443), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        (FOLDER / "serving").touch()
        server.serve_forever()


if __name__ == "__main__":
    main()
