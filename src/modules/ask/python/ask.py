"""Private statistics of a table, asked for by the names of its columns."""

from __future__ import annotations

import csv
import html
import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._call import Progress, c_text, ffi, fill, invalid, lib, out_text, struct, table
from .._certificate import Certificate
from .._ledger import Ledger, charge, spend_of, unknown_charge
from ..errors import SottoError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._ask_options import AskOptions

__all__ = ["Answers", "Table"]

_NUMBERS = ("value", "low", "high", "deviation")
_NAN = float("nan")


class Answers:
    """What one call of Table.ask() released.

    frames: of each query, by its name behind "as" or else its canonical text: a pandas DataFrame, or without pandas a dict of lists. Its columns are
    those of the keys, then statistic, value, low and high (95 % of the noise alone unless ask() was told otherwise; NaN: not said), deviation (of the noise)
    and public.
    certificate: of all answers together."""

    def __init__(self, text: str, certificate: Certificate) -> None:
        self._text, self.certificate = text, certificate
        by_query: dict[str, list[dict[str, Any]]] = {}
        for a in self.to_dict()["answers"]:
            row = {**a["keys"], "statistic": a["statistic"], **{n: _NAN if a[n] is None else a[n] for n in _NUMBERS}, "public": a["public"]}
            by_query.setdefault(a["query"], []).append(row)
        self.frames: dict[str, Any] = {name: _frame(rows) for name, rows in by_query.items()}

    def to_dict(self) -> dict[str, Any]:
        """The document "sotto.answers/1": answers, and the noisy cells that they are made from."""
        return dict(json.loads(self._text))

    def to_json(self, path: str | os.PathLike[str]) -> str:
        """Writes that document, and PATH.certificate.json beside it, which sotto.verify() checks; returns the path."""
        with open(path, "w", encoding="utf-8") as f:
            f.write(self._text)
        return self._certify(path)

    def to_csv(self, path: str | os.PathLike[str]) -> str:
        """Writes all answers as a CSV, one row each, with its certificate; returns the path."""
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.writelines(self._said())
            csv.writer(f, lineterminator="\n").writerows(self._lines())
        return self._certify(path)

    def to_html(self) -> str:
        """One page that loads nothing: a card with bars, intervals and a table for each query, and the budget before and after."""
        return out_text(lib.sotto_ask_page, c_text(self._text), self.certificate._c)

    def _certify(self, path: str | os.PathLike[str]) -> str:
        self.certificate.save(f"{os.fspath(path)}.certificate.json", path)
        return os.fspath(path)

    def _said(self) -> list[str]:
        """Of its intervals, as the program says it."""
        d = self.to_dict()
        return ["# all intervals hold at once with 95 % probability\n"] * d["simultaneous"] + [
            "# intervals are of noise and of sampling, approximately\n"] * (d["intervals"] == "noise and sampling")

    def _lines(self) -> list[list[str]]:
        """Of the CSV, as the program writes it, but for a seed's stamp."""
        answers = self.to_dict()["answers"]
        keys = list(dict.fromkeys(k for a in answers for k in a["keys"]))
        return [["query", *keys, "statistic", *_NUMBERS, "public"]] + [
            [a["query"], *(a["keys"].get(k, "") for k in keys), a["statistic"], *("" if a[n] is None else repr(a[n]) for n in _NUMBERS),
             "yes" if a["public"] else "no"] for a in answers]

    def __repr__(self) -> str:
        return f"Answers({', '.join(self.frames)}; {self.certificate.statement})"

    def _repr_html_(self) -> str:
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>" for line in self._lines())
        return f"<table>{rows}</table><p>{html.escape(self.certificate.statement)}</p>"


def _frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    try:
        import pandas
    except ImportError:
        return columns
    return pandas.DataFrame(columns)


def _cell(x: Any) -> str:
    """A value as a table of texts holds it; none, and whatever has no text: missing, as an error would tell of one record before it is charged.
    A whole number has no ".0", which NaN gives to a column of whole numbers."""
    try:
        if x is None or x is np.ma.masked or not bool(x == x):
            return ""
        if isinstance(x, np.datetime64):
            x = x.astype("datetime64[D]")
        elif hasattr(x, "date"):
            x = x.date()
        elif hasattr(x, "item"):
            x = x.item()
        text = str(int(x)) if isinstance(x, float) and x.is_integer() and abs(x) < 2**53 else str(x)
        return text.encode("utf-8", "replace").decode().replace("\0", "?")
    except Exception:  # of any object
        return ""


def _write(path: str, frame: Any, schema: str) -> None:
    """A table of the columns of a DataFrame or a mapping, for this user alone."""
    with open(schema, encoding="utf-8") as f:
        if re.search(r"^header:\s*false\b", f.read(), re.MULTILINE):
            raise invalid(f"{schema} has 'header: false', but this table has names; omit that line, or give the path of a CSV")
    columns = {name: list(frame[name]) for name in frame}
    if not columns or not all(isinstance(name, str) for name in columns):
        raise invalid("the table has no columns, or one whose name is no text; expected the names of the schema")
    if len({len(values) for values in columns.values()}) != 1:
        raise invalid("the columns of the table have different numbers of rows")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, quoting=csv.QUOTE_ALL, lineterminator="\n")
        out.writerow(columns)
        out.writerows(map(_cell, row) for row in zip(*columns.values()))


class Table:
    """A private table that queries are asked of. Nothing is read before a query is charged.

    table: path of a CSV, a pandas DataFrame, or a mapping of names to columns, which is written to a temporary file that only this user can read
        while a query is answered.
    schema: path of a sotto.schema/1, with bounds, categories and classes from other knowledge than the rows.
    ledger: that is charged, or dataset_id: identity of the private records, whose ledger is then used.
    person, rows_per_person: of each person in this column the first so many rows count, and the unit of privacy is a person; as the schema says where it
        states them. person="none": a record, of a schema that declares persons but no rows of each.

    >>> schema = folder / "wards.yaml"
    >>> _ = schema.write_text("schema: sotto.schema/1\\ncolumns:\\n  - {name: age, type: number, bounds: [0, 100], fill: 50}\\n"
    ...                       "  - {name: ward, type: category, categories: [A, B]}\\n  - {name: out, type: label, classes: [no, yes]}\\n")
    >>> rows = {"age": [20, 60] * 500, "ward": ["A", "B"] * 500, "out": ["no", "yes"] * 500}
    >>> t = sotto.lab.ask.Table(rows, schema=schema, dataset_id="wards")
    >>> r = t.ask("mean age by ward as age", "count", epsilon=5)
    >>> [round(x, -1) for x in dict(r.frames["age"])["value"][:2]], r.certificate.proved
    ([20.0, 60.0], True)
    """

    def __init__(self, table: Any, *, schema: str | os.PathLike[str], ledger: Ledger | None = None, dataset_id: str | None = None,
                 person: str | None = None, rows_per_person: int = 0) -> None:
        if (ledger is None) == (dataset_id is None):
            raise invalid("give ledger=, or dataset_id= of the private records; one of them")
        self._table, self._schema = table, os.fspath(schema)
        self._ledger = Ledger(dataset=dataset_id) if ledger is None else ledger
        self._person, self._rows_per_person = person, rows_per_person

    def ask(self, *queries: str, threads: int | None = None, progress: Progress = None, **options: Unpack[AskOptions]) -> Answers:
        """Answers queries with noise, for one charge.

        queries: each one or several with ";" between them (`sotto ask --help`, docs/modules/ask.md). epsilon: of all answers together. delta [0]: 0 is
        Laplace noise, above 0 Gaussian noise. weights ["equal"], "squares" or "largest": shares of the queries. max_error: "NAME=E" instead of
        epsilon. raw: each answer from its own noisy cells. simultaneous: all intervals hold at once. population: intervals of the population too, which
        the rows, or persons, are a sample of. purpose, read_from_data, insecure_seed as of sotto.release().

        Raises BudgetExceeded, and InvalidArgument for a query, before the table is read; nothing was charged then. An exception after the charge
        names it."""
        given: dict[str, Any] = dict(options)
        if not queries:
            raise invalid("ask() needs a query, such as 'mean age by ward'")
        if given.get("planned") is not None:
            raise invalid("ask: planned= is for one release by release(); omit it")
        own = table("ask")
        with tempfile.TemporaryDirectory() as folder:
            output, path = os.path.join(folder, "answers.json"), self._table
            c = own.set(struct("ask", schema=self._schema, queries=list(queries), count=len(queries), person=self._person,
                               rows_per_person=self._rows_per_person, output=output), own.take(given, ("queries", "schema", "person", "output")))
            fill(c, spend=spend_of(self._ledger, given))
            unknown_charge("ask", given, "ask")
            if not isinstance(path, (str, os.PathLike)):
                path = os.path.join(folder, "table.csv")
                _write(path, self._table, self._schema)
            fill(c, table=path)
            out = ffi.new("struct sotto_certificate **")

            def finish() -> Answers:
                with open(output, encoding="utf-8") as f:
                    return Answers(f.read(), Certificate(out[0]))

            try:
                return charge(self._ledger, finish, lib.sotto_ask, out, c, threads=threads, progress=progress)
            except SottoError as e:
                e.args = tuple(a.replace(folder + os.sep, "") if isinstance(a, str) else a for a in e.args)
                raise


# The types of keyword arguments: build_options.py makes _ask_options.py of them.
OPTION_TYPES: dict[str, tuple[Any, ...]] = {"AskOptions": (None, "ask:epsilon|delta|weights|max_error|raw|simultaneous|population", "spend:purpose|read_from_data|insecure_noise_seed")}
