"""Tables: the same bits as the program's; frames by query; no private data is left behind; refusals come before the charge."""

import decimal
import os
import subprocess
import tempfile

import numpy as np
import pytest

import sotto
from sotto.errors import BudgetExceeded
from sotto.lab.ask import Table

program = os.environ.get("SOTTO", "sotto")
queries = ("mean crp by ward as crp; count where age >= 50", "histogram age 0:100:50", "quantile age .25 .5 with interval; median age", "count")
rows = {"who": [f"p{i // 4}" for i in range(2000)], "age": np.arange(2000) % 101, "crp": [None if i % 10 == 0 else 10.5 + 20 * (i % 2) for i in range(2000)],
        "ward": list("AB") * 1000, "out": [f'a "{i % 2}"\n,' for i in range(2000)]}


@pytest.fixture
def schema(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    (tmp_path / "s.yaml").write_text("""schema: sotto.schema/1
columns:
  - {name: who, type: person}
  - {name: age, type: number, bounds: [0, 100], fill: 50}
  - {name: crp, type: number, bounds: [0, 40]}
  - {name: ward, type: category, categories: [A, B]}
  - {name: out, type: label, classes: [yes, no]}
""")
    return tmp_path / "s.yaml"


def test_frames(schema, tmp_path):
    r = Table(rows, schema=schema, dataset_id="clinic", person="none").ask(*queries, epsilon=20, delta=1e-6)
    assert list(r.frames) == ["crp", "count where age >= 50", "histogram age 0:100:50", "quantile age 0.25 0.5 with interval", "quantile age 0.5", "count"]
    crp = dict(r.frames["crp"])
    assert list(crp) == ["ward", "statistic", "value", "low", "high", "deviation", "public"] and list(crp["ward"]) == ["A", "B", "(other)", "(missing)"]
    assert abs(crp["value"][0] - 10.5) < 1 and abs(crp["value"][1] - 30.5) < 1 and crp["low"][0] < crp["value"][0] < crp["high"][0]
    assert abs(dict(r.frames["count where age >= 50"])["value"][0] - 1000) < 60 and (lambda q: q["low"][0] <= q["value"][0] <= q["high"][0])(dict(r.frames["quantile age 0.25 0.5 with interval"]))
    count = dict(r.frames["count"])
    assert (list(count["value"]), list(count["public"]), "ward" in count) == ([2000], [True], False)
    for file in (r.to_csv(tmp_path / "a.csv"), r.to_json(tmp_path / "a.json")):
        assert sotto.verify(file, ledger=tmp_path / "share/sotto/ledger/clinic.jsonl").proved
    assert (tmp_path / "a.csv").read_text().splitlines()[0] == "query,ward,age,statistic,value,low,high,deviation,public"
    page = r.to_html()
    assert page.startswith("<!DOCTYPE html>") and page.count("<svg") == len(r.frames) and "Spent before this call: epsilon 0. With it: epsilon 20." in page
    assert r.certificate.proved and r.certificate.mechanism == "gaussian" and "<td>(missing)</td>" in r._repr_html_() and "crp" in repr(r)
    assert not list((tmp_path / "temporary").iterdir())  # the table and the answers are gone


def test_table_as_the_program(schema, tmp_path):
    lines = ["who,age,crp,ward,out"] + [f"{w},{a},{'' if c is None else c},{d},x" for w, a, c, d, _ in zip(*rows.values())]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    done = subprocess.run([program, "ask", "t.csv", *queries, "--schema", "s.yaml", "--person", "who", "--rows-per-person", "3", "--epsilon", "1", "--insecure-noise-seed", "7",
                           "--dataset-id", "a", "-o", "a.json", "--quiet"], cwd=tmp_path, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    for k, given in enumerate((tmp_path / "t.csv", rows)):
        t = Table(given, schema=schema, ledger=sotto.Ledger(dataset=f"b{k}"), person="who", rows_per_person=3)
        r = t.ask(*queries, epsilon=1, insecure_seed=7)
        assert open(r.to_json(tmp_path / "b.json")).read() == (tmp_path / "a.json").read_text() and dict(r.frames["count"])["value"][0] == 1500 and r.certificate.insecure
    assert "one person" in r.certificate.unit
    schema.write_text(schema.read_text().replace("type: person", "type: person, rows: 3"))
    r = Table(rows, schema=schema, dataset_id="stated").ask(*queries, epsilon=1, insecure_seed=7)  # the schema states the unit
    assert open(r.to_json(tmp_path / "b.json")).read() == (tmp_path / "a.json").read_text() and "at most 3 rows" in r.certificate.unit
    with pytest.raises(ValueError, match="states the unit of privacy: a person of column 'who'"):
        Table(rows, schema=schema, dataset_id="stated", person="none").ask("mean age", epsilon=1)


def test_intervals(schema, tmp_path):
    widths = []
    for k, options in enumerate(({}, {"simultaneous": True}, {"population": True}, {"simultaneous": True, "population": True})):
        r = Table(rows, schema=schema, dataset_id=f"i{k}", person="none").ask("count where age >= 50; mean age by ward", epsilon=1, insecure_seed=7, **options)
        d, one = r.to_dict(), dict(r.frames["count where age >= 50"])
        assert (d["simultaneous"], d["intervals"]) == ("simultaneous" in options, "noise and sampling" if "population" in options else "noise")
        assert [line[0] for line in open(r.to_csv(tmp_path / "a.csv"))].count("#") == len(options)
        widths.append(one["high"][0] - one["low"][0])
    assert widths[0] < min(widths[1:3]) and max(widths[1:3]) < widths[3]


def test_cells(schema):
    """Missing values, whole numbers as floats, and names of NumPy's and Python's kinds."""
    age = np.array([10.0, np.nan, 90.0, 1e300, -np.inf, 20.0] * 500)
    r = Table({"who": np.arange(3000), "age": age, "crp": age, "ward": np.array(["A", "B", "", "C", "A", "B"] * 500), "out": ["yes"] * 3000}, schema=schema,
              dataset_id="cells", person="none").ask("histogram crp [0, 15, 40] as crp; histogram ward as ward; histogram out as out", epsilon=100)
    def close(name, *counts):
        assert np.allclose(dict(r.frames[name])["value"], counts, atol=5), r.frames[name]
    close("crp", 1000, 1500, 500)
    close("ward", 1000, 1000, 500, 500)
    close("out", 3000, 0, 0, 0)


def test_refused(schema, tmp_path):
    ledger = sotto.Ledger(dataset="kept", budget=1.0)
    t = Table(rows, schema=schema, ledger=ledger, person="none")
    for given, text in (({"queries": ["mean wart"]}, "character 6: 'wart' is no column of s.yaml; did you mean 'ward'"), ({"queries": []}, "needs a query"),
                        ({"epsilon": None}, "epsilon"), ({"epsilon": -1}, "epsilon"), ({"delta": 1}, "delta"), ({"planned": "a:1"}, "planned= is for")):
        call = {"queries": ["count where age > 3"], "epsilon": 1, **given}
        with pytest.raises(ValueError, match=text):
            t.ask(*call.pop("queries"), **call)
    with pytest.raises(TypeError, match="'epsilom'; did you mean 'epsilon'"):
        t.ask("count", epsilom=1)
    with pytest.raises(BudgetExceeded):
        t.ask("mean age", epsilon=1.5)
    for change, text in (({"ledger": None}, "one of them"), ({"dataset_id": "d"}, "one of them")):
        with pytest.raises(ValueError, match=text):
            Table(rows, **{"schema": schema, "ledger": ledger, **change})
    for frame, text in (({"age": [1], "ward": [1, 2]}, "different numbers of rows"), ({3: [1]}, "no text"), ({}, "no columns")):
        with pytest.raises(ValueError, match=text):
            Table(frame, schema=schema, ledger=ledger, person="none").ask("mean age", epsilon=1)
    assert not [e for e in ledger.entries() if e.event == "release"] and not list((tmp_path / "temporary").iterdir())
    with pytest.raises(ValueError, match="^(?!.*temporary).*table.csv") as e:
        Table({"age": [1, 2]}, schema=schema, ledger=ledger, person="none").ask("mean age", epsilon=0.5)
    assert "charged" not in str(e.value)
    assert not list((tmp_path / "temporary").iterdir())


class Wordless:
    def __str__(self):
        raise RuntimeError("no text")


@pytest.mark.parametrize("cell", [None, float("nan"), "\udcff", "a\0b", decimal.Decimal("sNaN"), np.zeros(3), Wordless(), pytest.param(10**5000, id="long"), np.ma.masked, np.datetime64("NaT"), "NA"])
def test_no_cell_is_an_error(schema, tmp_path, cell):
    """It would tell of that record, and cost nothing."""
    odd = {**rows, "crp": [cell, *rows["crp"][1:]]}
    t = Table(odd, schema=schema, person="none", ledger=sotto.Ledger(tmp_path / "l.jsonl", dataset="odd"))
    r = t.ask("count", "mean crp as crp", epsilon=1)
    assert r.certificate is not None and len(r.frames["crp"]["value"]) == 1


def test_dates_of_frames_are_days():
    import datetime
    from sotto.lab import ask
    assert [ask._cell(d) for d in (np.datetime64("2020-08-14T12:00:00.123456789"), datetime.datetime(2020, 8, 14, 5), datetime.date(2020, 8, 14))] == ["2020-08-14"] * 3
    pandas = pytest.importorskip("pandas")
    assert [ask._cell(x) for x in (pandas.Timestamp("2020-08-14 05:00"), pandas.NaT, pandas.NA)] == ["2020-08-14", "", ""]
