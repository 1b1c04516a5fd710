#!/usr/bin/python3 -I
"""Stands in for the AWS CLI of an Amazon machine image, as far as node scripts use one.

``aws s3 cp SOURCE TARGET [--recursive]``, ``aws s3 sync``, ``aws s3 ls URI [--recursive]`` and
``aws secretsmanager get-secret-value --secret-id ID [--query SecretString --output text]``.
"""

import argparse
import json
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from xml.etree import ElementTree

S3_HOST = "s3.amazonaws.com"
TIMEOUT_SECONDS = 30


def main() -> int:
    """Run one command."""
    parser = argparse.ArgumentParser(prog="aws", description=__doc__)
    parser.add_argument("--region", default="us-west-2")
    services = parser.add_subparsers(dest="service", required=True)
    s3 = services.add_parser("s3")
    s3.add_argument("verb", choices=["cp", "sync", "ls"])
    s3.add_argument("places", nargs="+")
    s3.add_argument("--recursive", action="store_true")
    secrets = services.add_parser("secretsmanager")
    secrets.add_argument("verb", choices=["get-secret-value"])
    secrets.add_argument("--secret-id", required=True)
    secrets.add_argument("--query", default="")
    secrets.add_argument("--output", default="json")
    for one in (s3, secrets):
        one.add_argument("--region", default="us-west-2")
        for flag in ("--quiet", "--only-show-errors", "--no-progress", "--no-cli-pager"):
            one.add_argument(flag, action="store_true")
    given = parser.parse_args()
    try:
        return secret(given) if given.service == "secretsmanager" else objects(given)
    except urllib.error.HTTPError as error:
        print(f"\nAn error occurred ({error.code}): {error.read().decode(errors='replace')}", file=sys.stderr)
        if given.service == "s3":
            return 1
    except OSError as error:
        print(f"\nCould not connect to the endpoint URL: {error}", file=sys.stderr)
    return 254


def call(url: str, *, data: bytes | None = None, headers: dict[str, str] | None = None) -> bytes:
    """One request, signed in name only: its scope says which Region it is for."""
    service = url.removeprefix("http://").split(".")[0]
    scope = f"AWS4-HMAC-SHA256 Credential=NODE/20260101/us-west-2/{service}/aws4_request, SignedHeaders=host"
    request = urllib.request.Request(url, data=data, headers={"Authorization": scope, **(headers or {})})
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
        return bytes(answer.read())


def secret(given: argparse.Namespace) -> int:
    """Print a secret."""
    url = f"http://secretsmanager.{given.region}.amazonaws.com/"
    headers = {"X-Amz-Target": "secretsmanager.GetSecretValue", "Content-Type": "application/x-amz-json-1.1"}
    answer = json.loads(call(url, data=json.dumps({"SecretId": given.secret_id}).encode(), headers=headers))
    value = answer[given.query] if given.query else answer
    print(value if given.output == "text" and isinstance(value, str) else json.dumps(value))
    return 0


def objects(given: argparse.Namespace) -> int:
    """Copy or list what is in a bucket."""
    bucket, _, prefix = given.places[0].removeprefix("s3://").partition("/")
    if given.verb == "cp" and not given.recursive:
        target = Path(given.places[1])
        fetch(
            bucket,
            prefix,
            target / Path(prefix).name if given.places[1].endswith("/") or target.is_dir() else target,
        )
        return 0
    for key in keys(bucket, prefix):
        if given.verb == "ls":
            print(key)
        else:
            fetch(bucket, key, Path(given.places[1]) / key.removeprefix(prefix).lstrip("/"))
    return 0


def keys(bucket: str, prefix: str) -> list[str]:
    """The keys under a prefix, page by page."""
    found: list[str] = []
    query = {"list-type": "2", "prefix": prefix}
    while True:
        page = ElementTree.fromstring(call(f"http://{S3_HOST}/{bucket}?{urllib.parse.urlencode(query)}"))
        space = page.tag[: page.tag.index("}") + 1] if "}" in page.tag else ""
        found += [entry.findtext(f"{space}Key", "") for entry in page.iter(f"{space}Contents")]
        if page.findtext(f"{space}IsTruncated") != "true":
            return found
        query["continuation-token"] = page.findtext(f"{space}NextContinuationToken", "")


def fetch(bucket: str, key: str, target: Path) -> None:
    """Download an object."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(call(f"http://{S3_HOST}/{bucket}/{urllib.parse.quote(key)}"))


if __name__ == "__main__":
    sys.exit(main())
