"""Exceptions and warnings. The text of an error is the library's: object, problem, what was expected; what to do on a second line."""

from __future__ import annotations


class SottoError(Exception):
    """A call failed. `status` is the library's name of the kind ("EINVAL"), `hint` one line about what to do, or "". `key` is the member of
    the library's struct that the error is about ("dataset_id", "target.epsilon"), or None."""

    status: str = ""
    hint: str = ""
    key: str | None = None


class InvalidArgument(SottoError, ValueError):
    """An argument, an array or a file's contents cannot be used (EUSAGE, EINVAL, EDOMAIN, EFORMAT, ECONFIG)."""


class NotFound(SottoError, FileNotFoundError):
    """An input does not exist or cannot be opened (ENOENT)."""


class FileError(SottoError, OSError):
    """A file cannot be created, read or written (ECREATE, EIO)."""


class Locked(SottoError, BlockingIOError):
    """Another process holds a lock; try later (EAGAIN)."""


class OutOfMemory(SottoError, MemoryError):
    """ENOMEM"""


class NotSupported(SottoError, NotImplementedError):
    """Not built in, or not possible on this machine (ENOTSUP)."""


class BudgetExceeded(SottoError):
    """The privacy budget, or a budget of queries, would be exceeded (EBUDGET). Nothing was charged, unless `hint` names a charge: of labels that were released first."""


class Diverged(SottoError):
    """Training produced a NaN or an infinity (EDIVERGED)."""


class GateFailed(SottoError):
    """What was computed did not pass a check that was asked for (EGATE). `result`: what was computed, or None."""

    result: object = None


class NotDecided(GateFailed):
    """No check failed, but one could not be decided here (EUNDECIDED), such as the account of noise that this version has no curve of."""


class Stuck(SottoError):
    """A training was resumed again and again and never finished one step (ESTUCK). Nothing was trained or charged this time."""


class InternalError(SottoError):
    """A bug in sotto (EINTERNAL)."""


class PrivacyLeakWarning(UserWarning):
    """A public parameter was decided by private records, so epsilon is not proved."""


CLASSES: dict[str, type[SottoError]] = {
    "EUSAGE": InvalidArgument, "EINVAL": InvalidArgument, "EDOMAIN": InvalidArgument, "EFORMAT": InvalidArgument,
    "ECONFIG": InvalidArgument, "ENOENT": NotFound, "ECREATE": FileError, "EIO": FileError, "EAGAIN": Locked,
    "ENOMEM": OutOfMemory, "ENOTSUP": NotSupported, "EBUDGET": BudgetExceeded, "EDIVERGED": Diverged, "EGATE": GateFailed,
    "EUNDECIDED": NotDecided,
    "ESTUCK": Stuck, "EINTERNAL": InternalError,
}


def make(status: str, text: str, hint: str = "", key: str | None = None) -> SottoError:
    """The exception of a status."""
    error = CLASSES.get(status, SottoError)(f"{text}\n{hint}" if hint else text)
    error.status, error.hint, error.key = status, hint, key
    return error
