"""What stands in front of a real command fails as told, and is not there otherwise."""

import os
import subprocess
from pathlib import Path

from hyperpod_cdk.rehearsal.hosts import command_faults
from hyperpod_cdk.rehearsal.hosts.command_faults import scripts
from hyperpod_cdk.rehearsal.node_commands.machine import CommandFault


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    path = f"{folder / 'front'}:{folder / 'real'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["apt-mark", *arguments], env={"PATH": path}, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.strip()


def test_it_fails_as_often_as_told_and_then_the_real_one_runs(tmp_path: Path) -> None:
    faults = [
        CommandFault(
            command="apt-mark", contains="hold linux", times=2, exit_code=100, output="E: it's $locked"
        ),
        CommandFault(command="dpkg"),
    ]
    found = scripts(faults)
    assert sorted(found) == ["apt-mark", "dpkg"]
    for name, text in (("front", found["apt-mark"]), ("real", "#!/bin/bash\necho real $*\n")):
        script = tmp_path / name / "apt-mark"
        script.parent.mkdir()
        moved = text.replace(command_faults.COUNTS, str(tmp_path / "counts"))
        script.write_text(moved.replace(command_faults.FOLDER, str(tmp_path / "front")))
        script.chmod(0o755)
    assert run(tmp_path, "showhold") == (0, "real showhold")
    assert run(tmp_path, "hold", "linux-aws") == (100, "E: it's $locked")
    assert run(tmp_path, "hold", "linux-aws") == (100, "E: it's $locked")
    assert run(tmp_path, "hold", "linux-aws") == (0, "real hold linux-aws")
