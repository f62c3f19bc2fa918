# The compiled binding: names and types of sotto/sotto.h, and of sotto/lab.h with the modules of the build.
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

class _FFI:
    def def_extern(self, *, error: int = 0) -> Callable[[F], F]: ...
    def __getattr__(self, name: str) -> Any: ...

ffi: _FFI
lib: Any
