"""Types of keyword arguments that stand in option tables of the library. Made by build_options.py; not for editing."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, TypedDict


class AskOptions(TypedDict, total=False):
    """Of the options ask:epsilon|delta|weights|max_error|raw|simultaneous|population and spend:purpose|read_from_data|insecure_noise_seed."""

    epsilon: float | None
    delta: float | None
    max_error: str | PathLike[str] | None
    weights: Literal['equal', 'squares', 'largest'] | None
    raw: bool | None
    simultaneous: bool | None
    population: bool | None
    purpose: str | PathLike[str] | None
    read_from_data: str | Sequence[str] | None
    insecure_seed: int | None
