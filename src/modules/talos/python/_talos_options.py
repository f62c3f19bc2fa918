"""Types of keyword arguments that stand in option tables of the library. Made by build_options.py; not for editing."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, TypedDict


class TalosOptions(TypedDict, total=False):
    """Of Talos()."""

    lambda_: float | None
    bounded: bool | None
    alternation: Literal['odd-even', 'two-pass', 'joint'] | None
    adversary_steps: int | None
    adversary_reads: Literal['views', 'images', 'views-of-three'] | None
    relu_logits: bool | None
