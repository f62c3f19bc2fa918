"""Certificates: what a release or a private training guarantees; verification, pages and signatures."""

from __future__ import annotations

import hashlib
import html as _html
import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import key as _key
from ._call import Frame, c_text, ffi, lib, out_text, run, struct, table, text_of
from ._ledger import Ledger
from ._records import Interval, Record, read
from .account import Account, _account
from .errors import GateFailed, make

__all__ = ["Certificate", "Verification", "verify"]

Path = str | os.PathLike[str]


def _ledger_text(ledger: Path | Ledger | None) -> Any:
    return ffi.NULL if ledger is None else c_text(os.fspath(ledger))


def columns(proved: str, conditional: str, measured: str) -> str:
    """The three columns, as a table of HTML."""
    rows = (("proved", proved), ("conditional", conditional), ("measured", measured))
    return "<table>" + "".join(f"<tr><th>{n}</th><td>{_html.escape(t)}</td></tr>" for n, t in rows) + "</table>"


class Verification(Record, c="sotto_verification"):
    """What a certificate claims, and what became of each check.

    guarantee: "proved", "conditional" or "none". condition: what epsilon rests on without proof, measured: what was measured and not
    proved; or None. checks: each with name, outcome ("passed", "failed", "not-made") and text. checked: what passed checks amount to.
    failed: the first check that failed, or None. undecided: what this version cannot decide, or None. signed_by: the public key of a valid signature, or None. Members are those of struct
    sotto_verification (include/sotto/verify.h)."""

    certificate: str
    guarantee: str
    epsilon: Interval | None
    delta: float | None
    condition: str | None
    measured: str | None
    failed: str | None
    undecided: str | None
    signed_by: str | None
    checked: tuple[str, ...]
    checks: tuple[Any, ...]
    _text: str
    _json: str

    @classmethod
    def _finish(cls, members: dict[str, Any]) -> None:
        if members["guarantee"] == "none":
            members.update(epsilon=None, delta=None)

    @classmethod
    def _of(cls, c: Any) -> Verification:
        v = read(c)
        v.__dict__.update(_text=out_text(lib.sotto_verification_text, c), _json=out_text(lib.sotto_verification_encode, c))
        assert isinstance(v, Verification)
        return v

    @property
    def proved(self) -> bool:
        """Whether epsilon is proved by what was checked, without a condition."""
        return self.guarantee == "proved"

    def to_dict(self) -> dict[str, Any]:
        """The document "sotto.verify/1" (docs/FORMATS.md)."""
        return dict(json.loads(self._json))

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        made = [c for c in self.checks if c.outcome != "not-made"]
        return (f"Verification({self.certificate}: {f'failed: {self.failed}' if self.failed else 'consistent'}, {self.guarantee}, "
                f"{len(made)} checks, {f'signed by {self.signed_by[:16]}...' if self.signed_by else 'not signed'})")

    def _repr_html_(self) -> str:
        return f"<pre>{_html.escape(self._text)}</pre>"


def verify(file: Path, *, released: Path | None = None, ledger: Path | Ledger | None = None, trust: Path | Sequence[Path] = ()) -> Verification:
    """Derives everything that a certificate says from its own facts, and compares it with the released file and the ledger.

    file: a certificate, or a released file with FILE.certificate.json beside it. released: the released file, where it has another
    place. ledger: that was charged. trust: public keys of which one must have signed, each 64 digits or a file of sotto.key.new().

    Without a signature by a key that you trust, a file, certificate and ledger that were rewritten together pass. Raises GateFailed
    with the Verification as `result` if a check fails; NotFound, InvalidArgument for what is no certificate.
    """
    c = ffi.gc(ffi.new("struct sotto_verification *"), lib.sotto_verification_clear)
    try:
        run(lib.sotto_verify, c, c_text(file), ffi.NULL if released is None else c_text(released), _ledger_text(ledger))
    except GateFailed as e:
        e.result = Verification._of(c)
        raise
    result = Verification._of(c)
    keys = [os.fspath(t) for t in ([trust] if isinstance(trust, (str, os.PathLike)) else trust)]
    trusted = [k if len(k) == 64 and not set(k) - set("0123456789abcdef") else _key.public(k) for k in keys]
    if trusted and result.signed_by not in trusted:
        who = f"is signed by key {result.signed_by}, which trust= does not name" if result.signed_by else "is not signed"
        error = make("EGATE", f"{result.certificate}: {who}")
        assert isinstance(error, GateFailed)
        result.__dict__["failed"] = f"signature: {who}"
        error.result = result
        raise error
    return result


def _digest(a: Any) -> str:
    """Of values, whatever type a file keeps them in."""
    return hashlib.sha256(np.ascontiguousarray(a, "<f8").tobytes()).hexdigest()


def _arrays(path: Path) -> list[Any]:
    """All arrays of a file."""
    name = os.fspath(path)
    if name.endswith((".npy", ".npz")):
        found = np.load(name, allow_pickle=False)
        return [found] if name.endswith(".npy") else [found[n] for n in found.files]
    if not name.endswith(".safetensors"):
        raise make("EINVAL", f"{name}: what it holds cannot be compared with the release; save the released arrays as .npy, .npz or .safetensors")
    with open(name, "rb") as f:
        header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
        data = f.read()
    kinds = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8"}
    return [np.frombuffer(data[t["data_offsets"][0]:t["data_offsets"][1]], kinds[t["dtype"]]) for n, t in header.items() if n != "__metadata__"]


class Certificate:
    """What a release or a private training guarantees, and where it was recorded.

    Made by the calls that charge a ledger, or read by load(); it cannot be changed. What is proved, what rests on a condition and what
    was measured stand apart: `proved`, `condition`, `measured`."""

    def __init__(self, c: Any, path: str | None = None, released: Iterable[Any] = ()) -> None:
        self._c = ffi.gc(c, lib.sotto_certificate_free)
        self._path = path
        self._released = sorted(_digest(a) for a in released)

    def _with(self, array: Any) -> tuple[Any, Certificate]:
        """What came out of its release, and this certificate, which is saved for nothing else."""
        self._released = [_digest(array)]
        return array, self

    # ---- the guarantee
    @property
    def account(self) -> Account:
        """Of the release, or of all steps that were charged."""
        return _account(lib.sotto_certificate_account(self._c))

    @property
    def guarantee(self) -> str:
        """"proved"; "conditional": epsilon rests on `condition`; "none": the noise was seeded."""
        return text_of(lib.sotto_guarantee_name(lib.sotto_certificate_guarantee(self._c)))

    @property
    def proved(self) -> bool:
        return self.guarantee == "proved"

    @property
    def insecure(self) -> bool:
        """Whether the noise was seeded, so that nothing is guaranteed."""
        return self.guarantee == "none"

    @property
    def epsilon(self) -> Interval | None:
        """Both ends, proved or under `condition`; float() is the upper end. None: the noise was seeded."""
        return None if self.insecure else self.account.epsilon

    def risk(self, max_tpr: tuple[float, float] | None = None, max_advantage: float | None = None) -> str:
        """What holds of tests of membership, in one line: max_tpr=(tpr, fpr) or max_advantage, if the release keeps it, else a larger figure.

        >>> ledger = sotto.Ledger(folder / "risk.jsonl", dataset="risk")
        >>> _, certificate = sotto.randomise([0, 1, 1, 2], classes=3, max_tpr=(.02, .01), ledger=ledger)
        >>> certificate.risk(max_tpr=(.02, .01))
        'any test of membership: true-positive rate at most 0.02 at false-positive rate 0.01'
        """
        asked = {k: v for k, v in (("max_tpr", max_tpr), ("max_advantage", max_advantage)) if v is not None}
        c = table("release").set(struct("release"), asked)
        return out_text(lib.sotto_certificate_risk, self._c, ffi.addressof(c, "risk"))

    @property
    def delta(self) -> float:
        return self.account.delta

    @property
    def adjacency(self) -> str:
        """Which data sets count as neighbours: "replace-one", "zero-out", "replace-input"."""
        return self.account.adjacency

    @property
    def mechanism(self) -> str:
        return self.account.mechanism

    @property
    def scale(self) -> float:
        """Of the noise, in units of what was released."""
        return self.account.scale

    @property
    def condition(self) -> str | None:
        """All that epsilon rests on without proof, or None."""
        return text_of(lib.sotto_certificate_condition(self._c)) or None

    @property
    def measured(self) -> str | None:
        """What was measured and not proved, or None."""
        return "the sensitivity, a maximum over sampled pairs" if self.sensitivity.source == "sampled" else None

    @property
    def sensitivity(self) -> Record:
        """As accounted: l1, l2 (NaN: unknown), dimension, source ("given", "sampled", "clipped", "proved")."""
        r = read(lib.sotto_certificate_sensitivity(self._c))
        assert isinstance(r, Record)
        return r

    @property
    def unit(self) -> str:
        """The unit of privacy: "one record", or "one person (...)"."""
        return text_of(lib.sotto_certificate_unit(self._c))

    @property
    def statement(self) -> str:
        """The guarantee in one line."""
        return text_of(lib.sotto_certificate_statement(self._c))

    @property
    def ledger_entry(self) -> int:
        """Number of its entry among the charges of the ledger."""
        return int(lib.sotto_certificate_entry(self._c))

    @property
    def ledger_hash(self) -> str:
        """Hash of its entry in the ledger."""
        return text_of(lib.sotto_certificate_hash(self._c))

    # ---- files
    @property
    def path(self) -> str | None:
        """Where save() wrote it, or load() found it."""
        return self._path

    def save(self, path: Path, output: Path) -> str:
        """Writes it to `path`, with the SHA-256 of the released file `output`, and tells the ledger that this file came out of the charge;
        returns the path. verify() looks for it at OUTPUT.certificate.json.

        Of release(), randomise() and select() the file must hold what they returned (.npy, .npz or .safetensors); other values are refused.
        A certificate that was read or unpickled does not know its ledger, and is saved for the file that it is of alone."""
        if self._released and sorted(_digest(a) for a in _arrays(output)) != self._released:
            raise make("EINVAL", f"{os.fspath(output)}: holds other values than came out of the release, so this is not its certificate; "
                       "save what the release returned, as it is")
        with open(output, "rb") as f:
            digest = hashlib.sha256(f.read()).hexdigest()
        run(lib.sotto_certificate_save, c_text(path), self._c, digest.encode())
        self._path = os.fspath(path)
        return self._path

    @classmethod
    def load(cls, path: Path) -> Certificate:
        """Reads a certificate, or the one beside a released file. Nothing is checked: verify() does that."""
        text = os.fspath(path)
        beside = text + ".certificate.json"
        text = beside if os.path.exists(beside) else text
        out = ffi.new("struct sotto_certificate **")
        run(lib.sotto_certificate_load, out, c_text(text))
        return cls(out[0], text)

    def _saved(self) -> str:
        if self._path is None:
            raise make("EUSAGE", "the certificate is in memory only; save it beside the released file first: save(path, output)")
        return self._path

    def verify(self, output: Path | None = None, ledger: Path | Ledger | None = None, trust: Path | Sequence[Path] = ()) -> Verification:
        """verify() of the saved certificate. output: the released file, where it is not beside it."""
        return verify(self._saved(), released=output, ledger=ledger, trust=trust)

    def sign(self, key: Path) -> str:
        """Signs the saved certificate by the key pair of a file of sotto.key.new(); returns the path of the signature."""
        return _key.sign(self._saved(), key)

    # ---- pages, of the saved certificate
    def html(self, *, ledger: Path | Ledger | None = None, prior: float = 0.0, force: bool = False, audit: Path | None = None) -> str:
        """Two pages for the person who answers for the data, as HTML that prints. Of a certificate that does not verify it says what
        failed and nothing else. prior: above 0, the page says how probably at most a record is reconstructed that is guessed with this
        probability without the release. force: make the page also where epsilon is above 20 or the noise was seeded. audit: a file of
        schema sotto.audit/1, whose accuracy by class stands on the page."""
        return _page(self._saved(), ledger, 2 if force else 1, prior, audit)

    def card(self, *, ledger: Path | Ledger | None = None, audit: Path | None = None, markdown: bool = False) -> str:
        """What registries of deployments ask for, as YAML, or a block for a model hub, as Markdown. audit: as of html(). It raises what
        verify() raises where the certificate does not hold."""
        out = ffi.new("char **")
        run(lib.sotto_certificate_card, out, c_text(self._saved()), _ledger_text(ledger), _audit_text(audit), markdown)
        try:
            return text_of(out[0])
        finally:
            lib.sotto_text_free(out[0])

    def show(self, height: int = 700, *, ledger: Path | Ledger | None = None) -> Frame:
        """The page in a notebook, in a frame of its own."""
        return Frame(self.html(ledger=ledger, force=True), height)

    def text(self, *, ledger: Path | Ledger | None = None, prior: float = 0.0) -> str:
        """The same page as text of at most 100 columns."""
        return _page(self._saved(), ledger, 0, prior)

    # ---- as text
    def _json(self) -> str:
        return out_text(lib.sotto_certificate_encode, self._c)

    def to_dict(self) -> dict[str, Any]:
        """The document "sotto.certificate/2" (docs/FORMATS.md)."""
        return dict(json.loads(self._json()))

    @classmethod
    def _decode(cls, text: str, path: str | None = None) -> Certificate:
        out = ffi.new("struct sotto_certificate **")
        run(lib.sotto_certificate_decode, out, text.encode())
        return cls(out[0], path)

    def __reduce__(self) -> Any:
        return Certificate._decode, (self._json(), self._path)

    def __eq__(self, other: object) -> bool:
        def said(c: Certificate) -> dict[str, Any]:
            return {k: v for k, v in c.to_dict().items() if k != "output_sha256"}  # which save() adds

        return isinstance(other, Certificate) and said(self) == said(other)

    def __hash__(self) -> int:
        return hash(self.ledger_hash)

    def __str__(self) -> str:
        return out_text(lib.sotto_certificate_summary, self._c)

    def __repr__(self) -> str:
        return f"Certificate({self}, entry {self.ledger_entry})"

    def _repr_html_(self) -> str:
        proved = self.statement if self.proved else "none"
        conditional = "nothing" if self.condition is None else self.statement.removeprefix("proved: none; ")
        place = f"<p>{_html.escape(self._path)}</p>" if self._path else ""
        return columns(proved, conditional, self.measured or "nothing") + place


def _audit_text(audit: Path | None) -> Any:
    return ffi.NULL if audit is None else c_text(audit)


def _page(file: str, ledger: Path | Ledger | None, html: int, prior: float, audit: Path | None = None) -> str:
    out = ffi.new("char **")
    try:
        run(lib.sotto_certificate_page_audited, out, c_text(file), _ledger_text(ledger), _audit_text(audit), html, prior)
    except GateFailed:
        pass  # the page says which check failed
    try:
        return text_of(out[0])
    finally:
        lib.sotto_text_free(out[0])
