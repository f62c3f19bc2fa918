"""The program `sotto`, which lies in the package beside its library."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "sotto")
    os.execv(program, ["sotto", *sys.argv[1:]])
