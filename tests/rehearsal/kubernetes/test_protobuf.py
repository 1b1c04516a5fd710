"""Objects in Kubernetes' binary form, as helm sends its releases."""

import pytest

from hyperpod_cdk.rehearsal.kubernetes import StatusError
from hyperpod_cdk.rehearsal.kubernetes.protobuf import decode


def field(number: int, content: bytes | str | int) -> bytes:
    """A field of a message: a number, or bytes with their length."""
    if isinstance(content, int):
        return bytes([number << 3, content])
    data = content.encode() if isinstance(content, str) else content
    assert len(data) < 1 << 14
    length = bytes([len(data)]) if len(data) < 128 else bytes([len(data) & 127 | 128, len(data) >> 7])
    return bytes([number << 3 | 2]) + length + data


def entry(key: str, value: bytes | str) -> bytes:
    return field(1, key) + field(2, value)


def envelope(kind: str, raw: bytes, version: str = "v1") -> bytes:
    return b"k8s\x00" + field(1, field(1, version) + field(2, kind)) + field(2, raw)


def test_a_release() -> None:
    metadata = field(1, "release.v1") + field(3, "kube-system") + field(11, entry("owner", "helm"))
    metadata += field(12, entry("note", "x" * 200)) + field(14, "hold") + field(7, 5)
    secret = field(1, metadata) + field(2, entry("release", b"\x00\xff")) + field(3, "helm.sh/release.v1")
    assert decode(envelope("Secret", secret + field(5, 1))) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "release.v1",
            "namespace": "kube-system",
            "labels": {"owner": "helm"},
            "annotations": {"note": "x" * 200},
            "finalizers": ["hold"],
        },
        "data": {"release": "AP8="},
        "type": "helm.sh/release.v1",
        "immutable": True,
    }


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"{}", 400), (envelope("Pod", b""), 415), (envelope("Secret", b"", "v2"), 415), (b"k8s\x00", 415)],
)
def test_what_is_not_read(body: bytes, code: int) -> None:
    with pytest.raises(StatusError) as caught:
        decode(body)
    assert caught.value.code == code
