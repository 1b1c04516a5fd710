"""The real CDK CLI, run against the embedded AWS."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from hyperpod_cdk.rehearsal.driver.outcome import RehearsalError, Stage
from hyperpod_cdk.toolchain import packaged_node

_EVENT = re.compile(
    r"^\S+ \| +(?P<count>[\d/]+) \| .*? \| (?P<status>[A-Z_]+) +\| (?P<type>\S+) +\| (?P<what>.*)$"
)
_SHOWN_TYPES = ("Custom::", "AWS::FSx::", "AWS::CloudFormation::Stack")
_TAIL_LINES = 40


class Toolkit:
    """Runs CDK commands and tells how they go on.

    Args:
        environment: the whole environment of the CLI.
        folder: an empty folder, for the app's output.
        logs: where the CLI's output is kept, one file a command; stays there as ``logs``.
        stage: told of the progress.
    """

    def __init__(self, *, environment: Mapping[str, str], folder: Path, logs: Path, stage: Stage) -> None:
        # what an interrupted CLI or app leaves there goes with the folder
        temporary = folder / "tmp"
        temporary.mkdir()
        self._environment = {**_with_tools(environment), "TMPDIR": str(temporary)}
        self._folder = folder
        self._output = folder / "cdk.out"
        self.logs = logs
        self._stage = stage
        self._number = 0
        self._log = logs

    @property
    def output(self) -> str:
        """What the last command has printed."""
        return self._log.read_text(encoding="utf-8")

    def bootstrap(self, account_id: str, region: str) -> None:
        """Prepare account and Region for CDK.

        Raises:
            RehearsalError: with the end of the CLI's output.
        """
        # from a folder without cdk.json, or the CLI would synthesize the app only to find the account
        self._run("bootstrap", f"aws://{account_id}/{region}", cwd=self._folder)

    def deploy(self, config: Path, *, may_fail: bool = False) -> bool:
        """Deploy the stack of a configuration.

        Args:
            config: the YAML file.
            may_fail: whether to return False, instead of raising, when the deployment fails.

        Returns:
            Whether the stack was deployed.

        Raises:
            RehearsalError: with the end of the CLI's output.
        """
        arguments = (*self._app(config), "--require-approval", "never")
        return self._run("deploy", *arguments, may_fail=may_fail)

    def destroy(self) -> None:
        """Destroy the stack that was deployed last.

        Raises:
            RehearsalError: with the end of the CLI's output.
        """
        # the app's output is still there, and the CLI takes it for the app
        self._run("destroy", "--app", str(self._output), "--force")

    def _app(self, config: Path) -> tuple[str, ...]:
        own = Path("app.py").is_file() and Path("cdk.json").is_file()
        script = ["app.py"] if own else ["-c", "from hyperpod_cdk.app import main; main()"]
        app = shlex.join([sys.executable, *script])
        return ("--app", app, "--context", f"config={config}", "--output", str(self._output))

    def _run(self, command: str, *arguments: str, cwd: Path | None = None, may_fail: bool = False) -> bool:
        self._number += 1
        self._log = self.logs / f"{self._number}-{command}.log"
        with (
            self._log.open("w", encoding="utf-8") as kept,
            subprocess.Popen(
                [_cdk(), command, *arguments, "--no-notices", "--no-color"],
                cwd=cwd,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
            ) as process,
        ):
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    kept.write(line)
                    self._follow(line.rstrip())
            except BaseException:
                process.terminate()
                raise
        if process.returncode and not may_fail:
            tail = "\n".join(self.output.splitlines()[-_TAIL_LINES:])
            raise RehearsalError(
                f"cdk {command} ended with exit code {process.returncode}; {self._log} ends:\n{tail}"
            )
        return process.returncode == 0

    def _follow(self, line: str) -> None:
        if line.startswith("✨  Synthesis time"):
            self._stage.say(line.removeprefix("✨  ").lower())
        event = _EVENT.match(line)
        if event is None:
            return
        failed = event["status"].endswith("_FAILED")
        if failed or event["type"].startswith(_SHOWN_TYPES):
            text = f"{event['count']:>7}  {event['status']:20}  {event['type']}  {event['what']}"
            self._stage.say(text, style="red" if failed else "dim")


def _cdk() -> str:
    for folder in (Path.cwd(), *Path.cwd().parents):
        cdk = folder / "node_modules" / ".bin" / "cdk"
        if cdk.exists():
            return str(cdk)
    return "cdk"


def _with_tools(environment: Mapping[str, str]) -> dict[str, str]:
    node = packaged_node()
    tools = [str(node.parent)] if node else []
    # CDK's own stack output format and versions shall not depend on the terminal
    path = os.pathsep.join([*tools, environment.get("PATH", os.defpath)])
    return {**environment, "PATH": path, "CI": "true"}
