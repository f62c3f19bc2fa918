"""The build of scikit-build-core, with a line of progress: pip shows nothing of the minutes that a build takes. The line goes to the
terminal itself, as pip keeps what a build prints; without a terminal nothing is said."""

from __future__ import annotations

import contextlib
import glob
import os
import subprocess
import threading
import time

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403 (the hooks that are not below)

_TARGETS = ("sotto_shared", "sotto", "sotto_binding")  # those of pyproject.toml


def _compiled(folder: str) -> int:
    """Objects in Ninja's log, which it appends to."""
    with open(os.path.join(folder, ".ninja_log"), encoding="utf-8", errors="replace") as log:
        return sum(line.split("\t")[3].endswith(".o") for line in log if line.count("\t") >= 4)


def _objects(folder: str) -> int:
    listed = subprocess.run(["ninja", "-C", folder, "-t", "inputs", *_TARGETS], capture_output=True, text=True, check=True).stdout
    return sum(line.endswith(".o") for line in listed.splitlines())


class _Progress:
    def __init__(self, terminal: object, started: float) -> None:
        self.terminal, self.started, self.total, self.before = terminal, started, 0, -1

    def line(self) -> str:
        minutes, seconds = divmod(int(time.time() - self.started), 60)
        return f"sotto: {self.done()}, {minutes}:{seconds:02} minutes"

    def done(self) -> str:
        made = [f for f in glob.glob("../build/*/build.ninja") if os.path.getmtime(f) >= self.started]
        if not made:
            return "configuring"
        try:
            compiled = _compiled(os.path.dirname(made[0]))
            if self.before < 0:
                self.before = compiled
                self.total = 0 if compiled else _objects(os.path.dirname(made[0]))  # Ninja knows what is left to do, and does not say
        except (OSError, subprocess.SubprocessError):
            return "compiling"
        return f"{compiled - self.before}{f' of {self.total}' if self.total else ''} files compiled"


@contextlib.contextmanager
def _shown():  # type: ignore[no-untyped-def]
    try:
        terminal = open("/dev/tty", "w", encoding="utf-8")  # noqa: SIM115
    except OSError:
        yield
        return
    over = threading.Event()
    progress = _Progress(terminal, time.time())

    def show() -> None:
        while not over.wait(1):
            print(f"\r{progress.line()}", end="\033[K", file=terminal, flush=True)

    shows = threading.Thread(target=show, daemon=True)
    shows.start()
    try:
        yield
    finally:
        over.set()
        shows.join()
        with terminal:
            print("\r", end="\033[K", file=terminal, flush=True)


def build_wheel(*args, **kwargs):  # type: ignore[no-untyped-def]
    with _shown():
        return _build.build_wheel(*args, **kwargs)


def build_editable(*args, **kwargs):  # type: ignore[no-untyped-def]
    with _shown():
        return _build.build_editable(*args, **kwargs)
