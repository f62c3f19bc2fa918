"""Types of keyword arguments that stand in option tables of the library. Made by build_options.py; not for editing."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, TypedDict


class DefenceOptions(TypedDict, total=False):
    """Of Defence()."""

    budget: float | None
    seed: int | None
    key: int | None
