"""sotto: train on private records, release the model, and know what it tells of the people in them.

Three doors: sotto.audit() (what do saved answers leak?), sotto.account (what does noise cost?), and sotto.errors. What is proved
(accounts, certificates) and what is only measured (audits, attacks) never stand in one column."""

from __future__ import annotations

from . import account, errors
from ._call import set_threads
from ._records import Estimate, Interval, Record
from ._sotto import ffi as _ffi
from ._sotto import lib as _lib
from ._attack import attack, attacks
from ._audit import AttackResult, AuditResult, audit
from .errors import BudgetExceeded, Diverged, GateFailed, InternalError, PrivacyLeakWarning, SottoError

__version__: str = _ffi.string(_lib.sotto_version()).decode()
__all__ = ["AttackResult", "AuditResult", "BudgetExceeded", "Diverged", "Estimate", "GateFailed", "InternalError", "Interval",
           "PrivacyLeakWarning", "Record", "SottoError", "account", "attack", "attacks", "audit", "errors", "set_threads", "version_line"]


def version_line() -> str:
    """One line for bug reports: library, instruction set, oneDNN, OpenMP."""
    return str(_ffi.string(_lib.sotto_version_line()).decode())
