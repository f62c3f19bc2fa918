"""What may change with any version, or go: the modules of this build, by name (`from sotto.lab import NAME`). `modules` lists them."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import TYPE_CHECKING

modules = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
__all__ = ["modules"]

if not TYPE_CHECKING:  # for a checker of types every name would be there

    def __getattr__(name: str) -> ModuleType:
        if name not in modules:
            raise AttributeError(f"sotto.lab has no module {name!r}; this build has {', '.join(modules) or 'none'}")
        return importlib.import_module(f"sotto.lab.{name}")
