"""One table of defaults. For every option: its row, what the library makes of {0}, what the program's help prints, and what signatures of
Python hold."""

import importlib.util
import inspect
import math
import os
import pathlib
import re
import subprocess

import pytest

import sotto
from sotto import _call
from sotto._call import ffi, lib, text_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEFINITION = re.compile(r"^const struct sotto_option options_(\w+)\[\]", re.M)
TABLES = {name: _call.table(name, True) for path in sorted(ROOT.glob("src/**/*_rows.c")) for name in DEFINITION.findall(path.read_text())
          if lib.sotto_option_table(name.encode()) != ffi.NULL}  # those of modules that are not built are not there
OUTSIDE = (lib.SOTTO_OPTION_REALS, lib.SOTTO_OPTION_LIST, lib.SOTTO_OPTION_INPUT)  # the caller's arrays: the call itself has their default
NUMBERS = {lib.SOTTO_OPTION_COUNT: "size_t *", lib.SOTTO_OPTION_SEED: "uint64_t *", lib.SOTTO_OPTION_REAL: "double *"}


def of_row(o):
    """What a resolved struct holds by the row."""
    if o.type in NUMBERS:
        return (math.nan if o.type == lib.SOTTO_OPTION_REAL else 0) if o.default == "auto" else float(o.default or 0)
    if o.type == lib.SOTTO_OPTION_SIZES:
        return [int(n) for n in o.default.split(",") if n]
    if o.type == lib.SOTTO_OPTION_CHOICE:
        return o.range.split("|").index(o.default) if o.default else 0
    return 0 if o.type == lib.SOTTO_OPTION_FLAG else o.default


def of_struct(o, c):
    """What it holds."""
    place = ffi.cast("char *", c) + o.row.offset
    if o.type in NUMBERS:
        return ffi.cast(NUMBERS[o.type], place)[0]
    if o.type == lib.SOTTO_OPTION_SIZES:
        return [ffi.cast("size_t *", place)[i] for i in range(ffi.cast("size_t *", ffi.cast("char *", c) + o.row.count)[0])]
    if o.type == lib.SOTTO_OPTION_TEXT:
        return text_of(ffi.cast("char **", place)[0])
    return ffi.cast("int *", place)[0]


def same(a, b):
    return a == b or (isinstance(a, float) and math.isnan(a) and math.isnan(b))


def test_structs_hold_the_defaults_of_the_rows():
    compared = 0
    for name, table in TABLES.items():
        if not table.size:  # arguments of a call
            continue
        c = ffi.new("uint64_t[]", table.size // 8 + 1)
        _call.run(lib.sotto_options_resolve, c, ffi.NULL, table.rows)
        for o in table:
            if o.type not in OUTSIDE:
                assert same(of_row(o), of_struct(o, c)), (name, o.name)
                compared += 1
    assert compared > 250


def said(*args):
    return subprocess.run([os.environ["SOTTO"], *args], capture_output=True, check=True, text=True).stdout


def of_help(verb):
    """Name and text of each option in the help of a verb."""
    out = said(verb, "--help", "all")
    for name, text in re.findall(r"^  --(\S+?)(?:, -\w)?(?: [^ \n]+)?(?:\n|  )((?:.+\n?)(?: {8,}.*\n?)*)", out, re.M):
        yield name, re.sub(r" \(also --[^)]*\)$", "", " ".join(text.split()))


def shown(o):
    """What help prints of a row's default; flags have none, and a number that the call finds is told in words."""
    text = o.type in (lib.SOTTO_OPTION_TEXT, lib.SOTTO_OPTION_CHOICE)
    return "" if o.type == lib.SOTTO_OPTION_FLAG or (o.default == "auto" and not text) else o.default


@pytest.mark.skipif("SOTTO" not in os.environ, reason="of the tests in the source tree")
def test_help_prints_the_defaults_of_the_rows():
    rows = {}
    for table in TABLES.values():
        for o in table:
            rows.setdefault(text_of(o.row.name), []).append(o)
    compared = 0
    for verb in re.findall(r"^  sotto (\S+)", said("help"), re.M):
        for name, text in of_help(verb):
            words = [(o, " ".join(o.help.split())) for o in rows.get(name, [])]
            meant = [(o, help) for o, help in words if text == help or re.fullmatch(re.escape(help) + r" \[[^]]*\]", text)]
            if meant:  # otherwise it is the program's own
                assert text in [f"{help} [{shown(o)}]" if shown(o) else help for o, help in meant], (verb, name)
                compared += 1
    assert compared > 250


def of_manual(page):
    """Name and text of each option in a man page."""
    plain = page.replace("\\-", "-").replace("\\&", "").replace("\\(ha", "^").replace("\\(ti", "~").replace("\\(aq", "'").replace("\\e", "\\")
    for head, text in re.findall(r"^\.TP\n\\fB--(.*)\n(.*)$", plain, re.M):
        yield head.partition("\\fR")[0], " ".join(text.split())


@pytest.mark.skipif("SOTTO" not in os.environ, reason="of the tests in the source tree")
def test_manual_prints_help_and_defaults_of_the_rows(tmp_path):
    said("help", "--man", str(tmp_path))
    compared = 0
    for verb in re.findall(r"^  sotto (\S+)", said("help"), re.M):
        told = dict(of_help(verb))
        for name, text in of_manual((tmp_path / f"sotto-{verb}.1").read_text()):
            help, _, default = text.removesuffix(")").rpartition(" (default: ") if " (default: " in text and text.endswith(")") else (text, "", "")
            assert told[name] in (text, f"{help} [{default}]"), (verb, name)
            compared += 1
    assert compared > 400


def outside(o):
    """A number that the row's range excludes; None: there is none, or it is no number."""
    m = re.fullmatch(r"([\[(])([^,]+),([^,]+)([\])])", o.range)
    if o.type not in NUMBERS or not m:
        return None
    low, high = float(m[2]), float(m[3])
    x = low if m[1] == "(" and low != 0 else high if m[4] == ")" and math.isfinite(high) else low - 1 if math.isfinite(low) else high + 1
    return None if o.type != lib.SOTTO_OPTION_REAL and x < 0 else x


def test_ranges_are_those_of_the_rows():
    """C refuses what is outside, in the words that Python and the program repeat."""
    compared = 0
    for name, table in TABLES.items():
        for o in table if table.size else ():
            x = outside(o)
            if x is None:
                continue
            c = ffi.new("uint64_t[]", table.size // 8 + 1)
            text = repr(x) if o.type == lib.SOTTO_OPTION_REAL else str(int(x))
            with pytest.raises(sotto.SottoError) as e:
                _call.run(lib.sotto_option_set, c, o.row, text.encode())
                _call.run(lib.sotto_options_check, c, table.rows, o.key.encode())
            assert "must be" in str(e.value), (name, o.name, str(e.value))
            compared += 1
    assert compared > 60


def types_of_the_package():
    """What python/build_options.py says of functions: NAME: (function, its tables or "table:rows", ...)."""
    spec = importlib.util.spec_from_file_location("build_options", ROOT / "python/build_options.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TYPES


RELEASE = ("release", "account:compose|certified")
SAMPLED = ("sampled:clipping|sampling|rows-per-person", "account:certified")
MORE = [  # functions with options of a table in their signature alone
    (sotto.account.release, *RELEASE), (sotto.account.calibrate, *RELEASE), (sotto.account.choose, *RELEASE), (sotto.account.logistic, *RELEASE),
    (sotto.account.laplace, *RELEASE), (sotto.account.dpsgd, *SAMPLED), (sotto.account.calibrate_dpsgd, *SAMPLED), (sotto.account.compose, "sampled:adjacency"),
    (sotto.Encoder.random, "embedding:seed"), (sotto.Ledger, "spend:rows-per-person", "source:ledger-move"), (sotto.Ledger.plan, "release:delta"),
    (sotto.release_records, "protect_records:norm", "protect:labels-from"), (sotto.randomise, "protect:labels-from"), (sotto.attack, "command:query-batch"),
]


def rows(tables):
    for name, _, only in (t.partition(":") for t in tables):
        for o in TABLES[name]:
            if not only or text_of(o.row.name) in only.split("|") or o.name in only.split("|"):
                yield o


def of_signature(value, o):
    """Whether a default of Python is that of the row; 0 stands for none, as in C."""
    if isinstance(value, str):
        return value == (o.default or o.range.split("|")[0] if o.type == lib.SOTTO_OPTION_CHOICE else o.default)
    return o.default != "auto" and float(value) == float(of_row(o) or 0)


def test_signatures_hold_the_defaults_of_the_rows():
    types = list(types_of_the_package().values())
    for name in sotto.lab.modules:
        types += getattr(getattr(sotto.lab, name), "OPTION_TYPES", {}).values()
    compared = 0
    for function, *tables in types + MORE:
        for p in inspect.signature(function).parameters.values() if function else ():
            found = [o for o in rows(tables) if o.name == p.name]
            if found and p.default not in (None, p.empty):  # None leaves it to the table
                assert of_signature(p.default, found[0]), (function.__qualname__, p.name, p.default, found[0].default)
                compared += 1
    assert compared > 30


@pytest.mark.parametrize("default, value", [("10", 0), ("0", 1), ("auto", 0), ("", "logistic"), ("0.1", 0.01)])
def test_another_default_is_found(default, value):
    """What must not pass."""
    o = next(o for o in TABLES["audit"] if o.name == "delta")
    before, o.default = o.default, default
    try:
        assert not of_signature(value, o)
    finally:
        o.default = before
