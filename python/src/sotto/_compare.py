"""Several models side by side: what each leaks, and what it is worth."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from ._audit import AuditResult
from ._call import Frame, c_text, ffi, invalid, lib, out_text, run, struct
from ._model import Path

__all__ = ["Comparison", "compare"]


class Comparison:
    """Models by utility, leakage, proved epsilon, encoder and attribute; less is better on all but utility. Only epsilon is proved.

    to_dict() is the document "sotto.compare/1" (docs/FORMATS.md): rows with estimates, changes against the first model, and the Pareto front."""

    def __init__(self, c: Any) -> None:
        self._c = c

    def to_dict(self) -> dict[str, Any]:
        return dict(json.loads(out_text(lib.sotto_compare_encode, self._c)))

    @property
    def names(self) -> list[str]:
        return [row["name"] for row in self.to_dict()["rows"]]

    def html(self) -> str:
        """The page, as save() writes it."""
        return out_text(lib.sotto_compare_html, self._c)

    def show(self, height: int = 700) -> Frame:
        """The page in a notebook, in a frame of its own."""
        return Frame(self.html(), height)

    def save(self, folder: Path) -> str:
        """Writes compare.json, compare.csv and report.html; returns the path of the page."""
        run(lib.sotto_compare_write, c_text(folder), self._c)
        return os.path.join(os.fspath(folder), "report.html")

    def __str__(self) -> str:
        return out_text(lib.sotto_compare_summary, self._c)

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.names)})"

    def _repr_html_(self) -> str:
        import html
        return f"<pre>{html.escape(str(self))}</pre>"


def compare(models: Mapping[str, AuditResult | Path | Sequence[AuditResult | Path]], *,
            certificates: Mapping[str, Path | tuple[Path, Path]] | None = None, title: str | None = None) -> Comparison:
    """Compares audits of models, the original first.

    models: names with an audit each, or several (of answers, of the encoder, of an attribute): results, or files with "sotto.audit/1".
    certificates: of some of the models, by name: the certificate or the released file, or a pair with the ledger that was charged. They
    are verified, and what they prove stands beside what was measured.
    Raises InvalidArgument for fewer than two models, a name that is taken, or models without a common attack.

    >>> member, other = [3.0, 2.0, 2.5] * 40, [1.0, 1.5, 2.6] * 40
    >>> leaky = sotto.audit(scores=member + other, membership=[1] * 120 + [0] * 120)
    >>> tight = sotto.audit(scores=other + other, membership=[1] * 120 + [0] * 120)
    >>> sotto.compare({"plain": leaky, "private": tight})
    Comparison(plain, private)
    """
    c = ffi.gc(ffi.new("struct sotto_compare_result *"), lib.sotto_compare_result_free)
    with tempfile.TemporaryDirectory() as folder:
        rows = ffi.new("struct sotto_compared[]", max(len(models), 1))
        alive, proofs = [], dict(certificates or {})
        for i, (name, audits) in enumerate(models.items()):
            files = []
            for j, a in enumerate([audits] if isinstance(audits, (AuditResult, str, os.PathLike)) else audits):
                path = os.path.join(folder, f"{i}-{j}.json") if isinstance(a, AuditResult) else os.fspath(a)
                if isinstance(a, AuditResult):
                    with open(path, "w", encoding="utf-8") as f:
                        json.dump(a.to_dict(), f)
                files.append(path)
            given = proofs.pop(name, None)
            certificate, ledger = given if isinstance(given, tuple) else (given, None)
            row = struct("compared", name=name, files=files, file_count=len(files), certificate=certificate, ledger=ledger)
            alive.append(row)
            rows[i] = row[0]
        if proofs:
            raise invalid(f"certificates has {next(iter(proofs))!r}, but models has no such name")
        run(lib.sotto_compare, c, rows, len(models), ffi.NULL if title is None else c_text(title))
    return Comparison(c)
