"""The binding is the library's whole interface: every exported function, every public struct, every option."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest
from headers import include, public_headers

import sotto
from sotto import _call
from sotto._call import ffi, lib

ours = {"sotto_python_progress", "sotto_python_log", "sotto_python_model"}
library = next(line.split()[-1] for line in open("/proc/self/maps") if re.search(r"/libsotto[^/]*\.so", line))


def functions():
    return {n for n in dir(lib) if n.startswith("sotto_")} - ours


@pytest.mark.skipif(not shutil.which("nm"), reason="nm is missing")
def test_every_exported_function_is_bound():
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines()
    exported = {words[2] for line in lines if len(words := line.split()) == 3 and words[1] in "TW" and words[2].startswith("sotto_")}
    assert exported == functions() and len(exported) > 300


@pytest.mark.skipif(not include.exists(), reason="not in the source tree")
def test_every_declared_function_is_bound():
    text = "".join(h.read_text() for h in public_headers())
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    declared = {re.search(r"(\w+)\s*\(", d.replace("SOTTO_MUST_CHECK", ""))[1] for d in re.findall(r"^SOTTO_API\b(?!\s+__)[^;]*;", text, flags=re.M)}
    assert declared == functions()


def is_defined(struct):
    try:
        return ffi.sizeof(f"struct {struct}") > 0
    except ffi.error:  # opaque
        return False


@pytest.mark.skipif(not include.exists(), reason="not in the source tree")
@pytest.mark.skipif(not shutil.which("cc"), reason="no compiler")
def test_sizes_and_offsets_are_those_of_c(tmp_path):
    structs = [s for s in ffi.list_types()[1] if s.startswith("sotto_") and is_defined(s)]
    lines, want = [], []
    for s in structs:
        kind = ffi.typeof(f"struct {s}")
        lines.append(f'    printf("{s} %zu\\n", sizeof(struct {s}));')
        want.append(f"{s} {ffi.sizeof(kind)}")
        for member, field in kind.fields:
            lines.append(f'    printf("{s}.{member} %zu %zu\\n", offsetof(struct {s}, {member}), sizeof(((struct {s} *)0)->{member}));')
            want.append(f"{s}.{member} {field.offset} {ffi.sizeof(field.type)}")
    source, program = tmp_path / "layout.c", tmp_path / "layout"
    source.write_text("#include <sotto/private/all.h>\n#include <sotto/lab.h>\n#include <stdio.h>\nint main(void)\n{\n" + "\n".join(lines) + "\n    return 0;\n}\n")
    subprocess.run(["cc", *[f"-I{folder}" for folder in os.environ.get("SOTTO_INCLUDES", str(include)).split(":")], "-o", program, source], check=True)
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines() == want
    assert len(structs) > 100 and len(want) > 1000


def test_the_library_is_the_one_beside_it():
    assert sotto.version_line().split()[1].rstrip(":,") == sotto.__version__


def test_constants_and_marks():
    assert lib.SOTTO_ZERO == 2.0**-1022 and lib.SOTTO_SEED_ZERO == 2**63 and lib.SOTTO_NONE == 2 ** (8 * ffi.sizeof("size_t")) - 1


NAMES = sorted({n for file in pathlib.Path(sotto.__file__).parent.rglob("*.py") for n in re.findall(r'table\("(\w+)"', file.read_text())})


@pytest.mark.parametrize("name", NAMES)
def test_option_tables(name):
    """Every table can be read, and its names are names of Python."""
    for o in _call.table(name, True):
        assert o.name.isidentifier() and o.help
        assert not o.line().startswith(" ")
