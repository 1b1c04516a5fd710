"""The files of a deployment."""

from pathlib import Path

import pytest

from hyperpod_cdk.lifecycle import staging


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("a.sh", b"#!/bin/bash\r\necho\r\n", b"#!/bin/bash\necho\n"),
        ("a.py", b"x = 1\r\n", b"x = 1\n"),
        ("a.json", b"{}\r\n", b"{}\n"),
        ("hook", b"#!/bin/bash\r\n", b"#!/bin/bash\n"),
        ("a.sh", b"\xef\xbb\xbf#!/bin/bash\r\n", b"#!/bin/bash\n"),
        ("blob.bin", b"\x00\r\n\x01", b"\x00\r\n\x01"),
        ("a.sh", b"printf 'a\rb'\n", b"printf 'a\rb'\n"),
    ],
)
def test_text_ends_in_lf_and_begins_without_a_mark(name: str, given: bytes, expected: bytes) -> None:
    assert staging.normalised(name, given) == expected


def test_what_runs_of_python_leave_behind_is_left_out(tmp_path: Path) -> None:
    for path in ("on_create.sh", "pkg/a.py", "pkg/__pycache__/a.pyc", "b.pyc", ".git/config", "tests/t.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"x")
    assert set(staging.read_tree(tmp_path)) == {"on_create.sh", "pkg/a.py", "tests/t.py"}
    left_out = staging.LEFT_OUT | staging.LEFT_OUT_OF_SCRIPTS
    assert set(staging.read_tree(tmp_path, left_out=left_out)) == {"on_create.sh", "pkg/a.py"}


def test_links_to_folders_are_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.sh").write_text("echo\n")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "before.d").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    assert staging.read_tree(tmp_path / "root") == {"before.d/a.sh": b"echo\n"}


def test_a_link_that_leads_back_is_said(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "a.sh").write_text("echo\n")
    with pytest.raises(ValueError, match="loop"):
        staging.read_tree(tmp_path)


def test_the_digest_counts_names_contents_and_renderings_not_order() -> None:
    files = {"a": b"1", "b": b"2"}
    assert staging.digest(files, "{}") == staging.digest(dict(reversed(files.items())), "{}")
    others = [
        staging.digest({"a": b"2", "b": b"1"}, "{}"),
        staging.digest({"a": b"1", "c": b"2"}, "{}"),
        staging.digest({"a": b"1b", "": b"2"}, "{}"),
        staging.digest(files, "{ }"),
        staging.digest(files),
    ]
    assert len({staging.digest(files, "{}"), *others}) == 1 + len(others)


def test_staged_files_are_what_was_given() -> None:
    files = {"on_create.sh": b"#!/bin/bash\n", "extra/before.d/a.sh": b"echo\n"}
    assert staging.read_tree(staging.staged(files)) == files


def test_the_scripts_of_the_library_are_found() -> None:
    assert (staging.packaged_scripts() / "on_create.sh").is_file()
