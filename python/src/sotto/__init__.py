"""sotto: train on private records, release the model, and know what it tells of the people in them.

audit() says what saved answers leak, `account` what noise costs; release(), select() and randomise() charge a Ledger and give a
Certificate, which verify() checks. What is proved (accounts, certificates) and what is only measured (audits, attacks) never stand
in one column."""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

from . import account, errors, key, lab
from ._call import set_threads, time_limit
from ._records import Estimate, Interval, Record
from ._sotto import ffi as _ffi
from ._sotto import lib as _lib
from ._attack import attack, attack_encoder, attacks
from ._audit import AttackResult, AuditResult, audit
from ._certificate import Certificate, Verification, verify
from ._encoder import Encoder, knn_accuracy, pretrain, scatter, standardise
from ._compare import Comparison, compare
from ._dataset import Dataset
from ._head import Head, train_head
from ._ledger import Ledger, LedgerEntry, LedgerTotal
from ._network import Network, train_network
from ._protect import protect_head, release_records, release_statistic
from ._release import randomise, release, select
from ._sensitivity import Sensitivity, prove_sensitivity, sample_sensitivity
from .errors import BudgetExceeded, Diverged, GateFailed, InternalError, PrivacyLeakWarning, SottoError

__version__: str = _ffi.string(_lib.sotto_version()).decode()
__all__ = [
    "AttackResult",
    "AuditResult",
    "BudgetExceeded",
    "Certificate",
    "Comparison",
    "Dataset",
    "Diverged",
    "Encoder",
    "Estimate",
    "GateFailed",
    "Head",
    "InternalError",
    "Interval",
    "Ledger",
    "LedgerEntry",
    "LedgerTotal",
    "Network",
    "PrivacyLeakWarning",
    "Record",
    "Sensitivity",
    "SottoError",
    "Verification",
    "account",
    "attack",
    "attack_encoder",
    "attacks",
    "audit",
    "compare",
    "errors",
    "key",
    "knn_accuracy",
    "lab",
    "pretrain",
    "protect_head",
    "prove_sensitivity",
    "randomise",
    "release",
    "release_records",
    "release_statistic",
    "sample_sensitivity",
    "scatter",
    "select",
    "set_threads",
    "time_limit",
    "standardise",
    "train_head",
    "train_network",
    "verify",
    "version_line",
]


def version_line() -> str:
    """One line for bug reports: library, instruction set, oneDNN, OpenMP."""
    return str(_ffi.string(_lib.sotto_version_line()).decode())


# What lay here before it became a module, by its name: the module of sotto.lab. It goes with the release after the next.
_MOVED = {"Defence": "defend", "DefenceKind": "defend", "DefenceResult": "defend", "defences": "defend"}

if not TYPE_CHECKING:  # for a checker of types every name would be there

    def __getattr__(name: str) -> Any:
        if name not in _MOVED:
            raise AttributeError(f"module 'sotto' has no attribute {name!r}")
        module = _MOVED[name]
        if module not in lab.modules:
            raise AttributeError(f"sotto.{name} is of the module {module}, which this build of sotto does not have; build it with SOTTO_MODULES=ALL")
        warnings.warn(f"sotto.{name} is now sotto.lab.{module}.{name}", DeprecationWarning, stacklevel=2)
        return getattr(importlib.import_module(f"sotto.lab.{module}"), name)
