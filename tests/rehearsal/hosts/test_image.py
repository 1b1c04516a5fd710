"""Images: named by their recipe, built from the machine's own archive, forgotten when nobody uses them."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from hyperpod_cdk.rehearsal.hosts import image as images
from hyperpod_cdk.rehearsal.hosts.image import RECIPES, Recipe
from hyperpod_cdk.rehearsal.hosts.requirements import CannotRunHostsError

RECIPE = Recipe(suite="bookworm", slurm="22.05", packages=("one", "two"))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "hyperpod-cdk" / "images"


def test_another_recipe_is_another_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = {
        RECIPE.digest,
        replace(RECIPE, packages=("one",)).digest,
        replace(RECIPE, suite="trixie").digest,
    }
    other = tmp_path / "image_prep.sh"
    other.write_text("# another preparation\n")
    monkeypatch.setattr(images, "PREPARATION", other)
    digests.add(RECIPE.digest)
    assert len(digests) == 4


def test_an_image_is_built_once_and_older_ones_go(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Path] = []

    def build(_: Recipe, place: Path) -> None:
        place.mkdir()
        built.append(place)

    monkeypatch.setattr(images, "_build", build)
    cache.mkdir(parents=True)
    old, recent, foreign = (cache / name for name in ("bookworm-old", "bookworm-recent", "trixie-old"))
    for path in (old, recent, foreign):
        path.mkdir()
    for path in (old, foreign):
        os.utime(path, (0, time.time() - 2 * images.UNUSED_SECONDS))
    first = images.image(RECIPE)
    assert images.image(RECIPE) == first
    assert built == [first]
    assert sorted(path.name for path in cache.iterdir() if path.is_dir()) == sorted(
        [first.name, recent.name, foreign.name]
    )


def test_a_failed_build_says_why_and_leaves_no_image(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    command = tmp_path / "bin" / "mmdebstrap"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\necho 'E: no such package'\nexit 1\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    with pytest.raises(CannotRunHostsError, match="E: no such package"):
        images.image(RECIPE)
    assert [path for path in cache.iterdir() if path.is_dir()] == []


STANZAS = """\
Types: deb
URIs: http://archive.example/debian
Suites: bookworm bookworm-updates
Components: main

Types: deb
URIs: http://archive.example/debian-security
Suites: bookworm-security
Components: main
"""


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("debian.sources", STANZAS, ["deb http://archive.example/debian trixie main"]),
        (
            "a.list",
            "deb [arch=amd64] http://one.example/debian bookworm main\n",
            ["deb http://one.example/debian trixie main"],
        ),
        ("a.list", "deb http://ubuntu.example/ubuntu jammy main\n", []),
        ("a.list.off", "deb http://one.example/debian bookworm main\n", []),
    ],
)
def test_the_archive_that_the_machine_uses(
    name: str, text: str, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_text(text)
    monkeypatch.setattr(images, "SOURCE_FILES", (str(tmp_path / "none"), str(tmp_path)))
    assert images.sources("trixie") == wanted


def test_every_recipe_has_what_a_node_runs() -> None:
    for recipe in RECIPES.values():
        assert {"slurm-wlm", "slurmdbd", "munge", "mariadb-server", "openssh-server"} <= set(recipe.packages)
