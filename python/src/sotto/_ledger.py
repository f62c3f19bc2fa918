"""Ledgers: which private data set a release is charged to, and what was charged so far."""

from __future__ import annotations

import html as _html
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from ._call import Progress, add_note, c_text, fill, invalid, lib, out_text, run, struct, table
from ._dataset import Dataset, check_identity
from ._records import Interval, Record
from ._shaped import Shaping, provenance as provenance_of, shaped_of
from ._sotto import ffi
from .errors import SottoError

__all__ = ["Ledger", "LedgerEntry", "LedgerTotal"]

T = TypeVar("T")
_CARD = ("contact", "curator", "use", "region", "sector", "rationale")
_OF_THE_LEDGER = ("dataset_id", "rows_per_person", "ledger", "budget_epsilon", "budget_delta")


class LedgerTotal(NamedTuple):
    """What all entries add up to. `together` is everything in one figure, the one that a budget counts; None if an entry used seeded
    noise, which gives no guarantee. `proved` is the same where every entry is proved, else None. `conditional` is the column of the
    entries that rest on a condition; None where there is none."""

    together: Interval | None
    proved: Interval | None
    conditional: Interval | None
    budget: tuple[float, float] | None  # (epsilon, delta)
    delta: float


class LedgerEntry(Record):
    """One line: index, time (UTC), event ("release", "reserve", "budget", ...), and of what was charged purpose, mechanism, epsilon,
    delta, adjacency, sensitivity, noise ("seeded: no guarantee"), unit_of_privacy, and `total`, what all up to it add up to. None: not
    said, or no total."""

    _NAMES = ("index", "time", "event", "purpose", "mechanism", "epsilon", "delta", "adjacency", "sensitivity", "noise", "unit_of_privacy", "total")

    @classmethod
    def _read(cls, line: Mapping[str, Any]) -> LedgerEntry:
        entry = object.__new__(cls)
        entry.__dict__.update({n: line.get(n) for n in cls._NAMES}, **{k: v for k, v in line.items() if k not in cls._NAMES})
        return entry


class Ledger:
    """The private data set that releases are charged to, and the file that keeps them.

    path: of the file, which the first charge makes; None: where the ledger of the data set is, else
        $XDG_DATA_HOME/sotto/ledger/DATASET.jsonl. A data set has one ledger: another path is refused at the first charge.
    dataset: identity of the private records, below 128 characters. The same people have the same identity, in whatever form
        their records are. None: the identity that the file holds.
    budget: (epsilon, delta), the most that all releases together may cost, or epsilon alone (pure); written to the file at
        once. It can be tightened later, never widened (BudgetExceeded).
    columns: what the budget is kept for, fixed for good: (pure, failure, share) of each. It holds releases whose pure epsilons add
        up to `pure` and whose failures to `failure`, and Gaussian noise for the rest of its share of delta. None: the first release
        decides.
    contact, curator, use, region, sector, rationale: in words, written with the budget and named on certificates: who answers for the
        data set; who holds the records and releases from them; what the releases are for; where the people live; a sector such as
        health; why this budget.
    same_people_as: identities of other data sets about the same people; their ledgers are charged too.
    rows_per_person: the most rows that one person has in the data set, as you state it: the unit of privacy is then a person, and
        every epsilon is conditional on it. 0: one record.
    ledger_move: True lets the ledger of the data set move to `path`.

    Raises FileError, Locked, and InvalidArgument for a file that is damaged or of another data set.

    >>> ledger = sotto.Ledger(folder / "clinic.jsonl", dataset="clinic-2026", budget=(1.0, 1e-5))
    >>> ledger.total(1e-5).proved, ledger.budget
    (Interval(lower=0.0, upper=0.0), (1.0, 1e-05))
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, dataset: str | None = None,
                 budget: tuple[float, float] | float | None = None, contact: str | None = None, curator: str | None = None,
                 use: str | None = None, region: str | None = None, sector: str | None = None, rationale: str | None = None,
                 columns: Sequence[tuple[float, float, float]] | None = None,
                 same_people_as: str | Sequence[str] = (), rows_per_person: int = 0, ledger_move: bool = False) -> None:
        self._path = None if path is None else os.path.abspath(path)
        if dataset is None:
            if self._path is None:
                raise invalid("a ledger needs dataset=, the identity of the private records, or the path of a file that holds it")
            dataset = self._show()["dataset_id"]
            if dataset is None:
                raise invalid(f"{self._path}: nothing was charged yet, so the file names no data set; give dataset=")
        self._dataset = dataset
        self._same = [same_people_as] if isinstance(same_people_as, str) else list(same_people_as)
        self._rows, self._move = rows_per_person, ledger_move
        if os.path.exists(self.path):
            held = self._show()["dataset_id"]
            if held not in (None, dataset):
                raise invalid(f"{self.path}: is the ledger of data set {held!r}, not of {dataset!r}; give its path or its data set alone")
        boxes = [] if columns is None else self._numbers("columns", "(pure, failure, share) of each, such as [(0.6, 1e-8, 1)]", columns, 3)
        card = {name: text for name, text in zip(_CARD, (contact, curator, use, region, sector, rationale)) if text is not None}
        if budget is not None:
            self._init(budget, card, boxes)
        elif boxes or card:
            raise invalid(f"{'columns= are' if boxes else f'{next(iter(card))}= is'} of a budget; give budget= too")

    @staticmethod
    def _numbers(name: str, expected: str, rows: Any, count: int) -> list[tuple[float, ...]]:
        try:
            numbers = [() if isinstance(row, str) else tuple(float(x) for x in row) for row in rows]
        except (TypeError, ValueError):
            numbers = [()]
        if any(len(row) != count for row in numbers):
            raise invalid(f"{name} is {repr(rows)[:80]}; expected {expected}")
        return numbers

    def _init(self, budget: tuple[float, float] | float, card: Mapping[str, str], columns: Sequence[tuple[float, ...]]) -> None:
        pair = (budget, 0.0) if isinstance(budget, (int, float)) else budget
        (epsilon, delta), = self._numbers("budget", "epsilon, or a pair (epsilon, delta)", [pair], 2)
        if os.path.exists(self.path) and not card and not columns:
            recorded = self._show()["budget"]
            if recorded and (recorded["epsilon"], recorded["delta"]) == (epsilon, delta) and recorded["set_by"] == "officer":
                return
        boxes = ffi.new("struct sotto_ledger_column[]", [{"pure": e, "failure": d, "share": s} for e, d, s in columns])
        path = out_text(lib.sotto_ledger_init_card, c_text(self._dataset), self._c_path(), {"epsilon": epsilon, "delta": delta}, boxes, len(columns),
                        struct("ledger_card", **card), self._source(), charges=True)
        self._path = self._path or path

    def _c_path(self) -> Any:
        return ffi.NULL if self._path is None else c_text(self._path)

    @property
    def dataset(self) -> str:
        """Identity of the private records."""
        return self._dataset

    @property
    def path(self) -> str:
        """Of the file, which need not exist yet."""
        return self._path if self._path is not None else out_text(lib.sotto_ledger_find, c_text(self._dataset))

    def __fspath__(self) -> str:
        return self.path

    # ---- what it says
    def _show(self) -> dict[str, Any]:
        """The document "sotto.ledger_show/1"; the chain of hashes is checked."""
        return dict(json.loads(out_text(lib.sotto_ledger_show, c_text(self.path))))

    @property
    def budget(self) -> tuple[float, float] | None:
        """(epsilon, delta) as the file holds it."""
        b = self._show()["budget"] if os.path.exists(self.path) else None
        return (b["epsilon"], b["delta"]) if b else None

    def total(self, delta: float) -> LedgerTotal:
        """What all releases together guarantee at `delta`, in [0, 1), under replace-one adjacency."""
        if not os.path.exists(self.path):
            return LedgerTotal(Interval(0.0, 0.0), Interval(0.0, 0.0), None, None, delta)
        t = json.loads(out_text(lib.sotto_ledger_account, c_text(self.path), delta))

        def column(c: Any) -> Interval:
            return Interval(*(float("inf") if c[k] is None else c[k] for k in ("epsilon_lower", "epsilon")))

        b = t["budget"]
        return LedgerTotal(None if t["together"] == "none" else column(t["together"]),
                           None if t["proved"] == "none" else column(t["proved"]),
                           column(t["conditional"]) if t["proved"] == "none" else None,
                           (b["epsilon"], b["delta"]) if b else None, delta)

    def entries(self) -> list[LedgerEntry]:
        """All lines, in their order."""
        return [LedgerEntry._read(e) for e in self._show()["entries"]] if os.path.exists(self.path) else []

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with one row for each entry."""
        import pandas
        return pandas.DataFrame([{n: getattr(e, n) for n in LedgerEntry._NAMES} for e in self.entries()], columns=LedgerEntry._NAMES)

    def plan(self, events: str | os.PathLike[str], *, delta: float = 0.0, purpose: str | None = None) -> dict[str, Any]:
        """Charges many releases as one entry, accounted together, before the first of them is made: the document "sotto.plan/1".

        events: file of schema sotto.events/1 (docs/FORMATS.md): noise of a scale and runs of sampled steps, of which all is fixed here.
        delta: of the guarantee of all together.
        purpose: written with the entry.

        Each release is then made as planned, costs nothing more, and is made once: planned=f"{plan['plan']}:{slot}" of release()
        and of what else makes one release; a run of steps is one, by Head.train_private() or Network.train_private(). Raises BudgetExceeded, and charges nothing, if they are too many together."""
        c = struct("spend", dataset_id=self._dataset, ledger=self._path, rows_per_person=self._rows, source=self._source(), purpose=purpose)
        return dict(json.loads(out_text(lib.sotto_ledger_plan, ffi.NULL, c_text(events), delta, c, charges=True)))

    def verify(self) -> None:
        """Checks the chain of hashes. Raises InvalidArgument if a line was changed, removed or reordered, NotFound without a file.

        Whether lines were removed at the end shows only against a certificate that names one of them: sotto.verify()."""
        self._show()

    def __str__(self) -> str:
        return out_text(lib.sotto_ledger_table, c_text(self.path)) if os.path.exists(self.path) else f"{self!r}: nothing was charged yet\n"

    def __repr__(self) -> str:
        return f"Ledger({self.path!r}, dataset={self._dataset!r})"

    def _repr_html_(self) -> str:
        shown = ("time", "purpose", "mechanism", "epsilon", "total")
        entries = self.entries()
        cells = "".join("<tr>" + "".join(f"<td>{_html.escape(_cell(getattr(e, n)))}</td>" for n in shown) + "</tr>" for e in entries[-10:])
        more = f"<p>{len(entries) - 10} earlier entries</p>" if len(entries) > 10 else ""
        return (f"<p>ledger of {_html.escape(self._dataset)}: {_html.escape(self.path)}</p>{more}<table><tr>"
                + "".join(f"<th>{n}</th>" for n in shown) + f"</tr>{cells}</table>")

    # ---- what a call charges
    def _source(self) -> Any:
        return struct("source_records", same_people=self._same or None, move_ledger=int(self._move),
                      public_set=int(lib.sotto_dataset_is_public(c_text(self._dataset))))

    def _lines(self) -> list[str]:
        try:
            with open(self.path, encoding="utf-8") as f:
                return f.readlines()
        except (OSError, SottoError):
            return []


def _cell(x: Any) -> str:
    return "" if x is None else f"{x:.6g}" if isinstance(x, float) else str(x)


def spend_of(ledger: Ledger, given: dict[str, Any], source: Dataset | None = None, shaped: Sequence[Shaping] = ()) -> Any:
    """struct sotto_spend of a ledger and of the keyword arguments that say how a call charges it, which are taken out of `given`.

    source: Dataset of the records, or None. shaped: by what."""
    if not isinstance(ledger, Ledger):
        raise invalid(f"ledger must be a sotto.Ledger (got {type(ledger).__name__}); sotto.Ledger(path, dataset=...) opens one")
    public = bool(lib.sotto_dataset_is_public(c_text(ledger._dataset)))
    charged, provenance = ledger._source(), None
    if source is not None:
        check_identity(ledger._dataset, source)
        provenance = source._provenance()
        if not public:
            source._digests(charged)
    if public and (source is None or source.dataset is None):
        raise invalid(f"{ledger._dataset!r} is the name of a public set, and these records do not say that they come from it; "
                      f"choose another name, or give source=sotto.Dataset.open({ledger._dataset!r})")
    if given.get("canary_public") is not None:
        shaped = (*shaped, Shaping("canaries", "canary_public"), *shaped_of(given["canary_public"]))
    if shaped:
        provenance = provenance_of(provenance, shaped)
    options = table("spend")
    c = struct("spend", dataset_id=ledger._dataset, ledger=ledger._path, rows_per_person=ledger._rows, source=charged, provenance=provenance)
    chosen = options.take(given, _OF_THE_LEDGER)
    if any(chosen.get(n) is not None for n in ("insecure_noise_seed", "insecure_seed")):
        fill(c, insecure=1)
    return options.set(c, chosen)


def unknown_charge(function: str, given: Mapping[str, Any], *tables: str) -> None:
    """As _call.unknown(), for a function that charges a ledger."""
    from ._call import unknown
    unknown(function, given, [table(t) for t in (*tables, "spend")], _OF_THE_LEDGER)


def charge(ledger: Ledger, finish: Callable[[], T], function: Any, *args: Any, threads: int | None = None, progress: Progress = None,
           made: Callable[[], bool] = lambda: False) -> T:
    """A call that charges the ledger. Returns finish(). An exception names the entries that were written before it, and has as
    `result` what finish() returns, if the call was done when the exception reached it, or had something to show: made()."""
    before = len(ledger._lines())
    done = False

    def call(*args: Any) -> Any:
        nonlocal done
        status = function(*args)
        done = status == lib.SOTTO_OK
        return status

    try:
        run(function, *args, threads=threads, progress=progress, charges=True, call=call)
    except BaseException as e:
        charged = [c for c in map(_charged, ledger._lines()[before:]) if c]
        if charged and "was charged" not in " ".join([str(e), *getattr(e, "__notes__", ())]):
            add_note(e, f"{'; '.join(charged)} of {ledger.path}")
        if done or made():
            e.result = finish()  # type: ignore[attr-defined]
            add_note(e, f"{'the call was done: ' if done else ''}what it made is `result` of this exception")
        raise
    return finish()


def _charged(line: str) -> str | None:
    """What a line of a ledger charges, for people."""
    try:
        entry = json.loads(line)
        if entry["event"] not in ("release", "reserve"):
            return None
        epsilon = entry["epsilon"]["upper"] if isinstance(entry["epsilon"], dict) else entry["epsilon"]
        return f"epsilon {epsilon:.6g} at delta {entry['delta']:g} was charged: charge {entry['charge']}"
    except (KeyError, TypeError, ValueError):
        return "privacy was charged: an entry" if '"event":"re' in line else None
