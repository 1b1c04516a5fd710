"""Key pairs that open nothing, but belong together."""
# ruff: noqa: PTH123

import hashlib
import os
import sys

from .machine import Machine


def ssh_keygen(_machine: Machine, arguments: list[str]) -> int:
    """``ssh-keygen -t ed25519 ... -f FILE``, and ``-y`` for the public half of a key."""
    file = arguments[arguments.index("-f") + 1]
    if "-y" in arguments:
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
        if "ENCRYPTED" in text:
            print("incorrect passphrase supplied to decrypt private key", file=sys.stderr)
            return 255
        print(_public(text))
        return 0
    comment = arguments[arguments.index("-C") + 1]
    text = f"PRETENDED PRIVATE KEY\n{os.urandom(16).hex()}\n{comment}\n"
    for name, content in ((file, text), (f"{file}.pub", _public(text) + "\n")):
        with open(name, "w", encoding="utf-8") as stream:
            stream.write(content)
    return 0


def _public(text: str) -> str:
    return f"ssh-ed25519 {hashlib.sha256(text.encode()).hexdigest()} {text.splitlines()[-1]}"
