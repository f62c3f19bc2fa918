"""NULL for a pointer is an error of the call, never a crash: every function of the library is called with it.

What a function may be given NULL for is what the comment of its header says, by the rule of sotto/base.h; nothing is listed by hand
but what `exceptions` states."""

import faulthandler
import os
import re
import signal
import threading

import pytest
from headers import include, public_headers

from sotto._call import ffi, lib

pytestmark = pytest.mark.skipif(not include.exists(), reason="not in the source tree")

# Functions that take pointers and have nothing to refuse when all are NULL.
exceptions = {
    "sotto_provenance_once": "NULL has no rows, so none is named twice",
    "sotto_team_common_isa": "NULL is a team of one process",
    "sotto_team_agree": "NULL is a team of one process",
}
# Functions that a request of zeros asks for long work.
slow = {"sotto_selftest": "{0} asks for all checks"}


def split(text):
    """At the commas outside of brackets."""
    depth, parts = 0, [""]
    for c in text:
        depth += (c in "([") - (c in ")]")
        parts = [*parts, ""] if c == "," and depth == 0 else [*parts[:-1], parts[-1] + c]
    return [p.strip() for p in parts if p.strip() not in ("", "void")]


def declarations():
    """For each function of the headers: its comment, and its parameters as (name, text of the declaration)."""
    found = {}
    for header in public_headers():
        for comment, text in re.findall(r"((?:/\*\*(?:(?!\*/).)*\*/\s*)?)^SOTTO_API\b(?!\s+__)([^;]*);", header.read_text(), flags=re.S | re.M):
            text = re.sub(r"/\*.*?\*/", "", text.replace("SOTTO_MUST_CHECK", ""), flags=re.S)
            name, parameters = re.match(r".*?(sotto_\w+)\s*\((.*)\)\s*$", text, flags=re.S).groups()
            last = r"\(\*\s*(\w+)\)|(\w+)(?:\s*\[[^\]]*\])*$"
            found[name] = comment, [("".join(re.search(last, p).groups("")), p) for p in split(" ".join(parameters.split()))]
    return found


declared = declarations() if include.exists() else {}


def documented(function):
    """The parameters of which the comment says what NULL means."""
    comment, parameters = declared[function]
    names, found, entry = {n for n, _ in parameters}, set(), []
    for line in comment.splitlines():
        line = re.sub(r"^\s*/?\*+ ?|\*/", "", line).strip()
        start = re.match(r"(?:(?:In|Out|In/out):)?\s*((?:\*?\w+, )*\*?\w+)(?: \([^)]*\))?(?:\s{2,}|[:;,]\s)", line)
        if same := re.match(r"In:.*\bas (sotto_\w+)\(\)", line):
            found |= documented(same[1]) & names
        if line.startswith(("Returns:", "Source:")):
            entry = []
        elif start and {w.lstrip("*") for w in start[1].split(", ")} <= names:
            entry = start[1].split(", ")
        elif re.match(r"(In|Out|In/out):", line):
            entry = []
        for null in re.finditer(r"\bNULL\b", line):
            before = line[: null.start()]
            word = re.search(r"`?(\w+)`?(?: is| may be|:)? \(?$", before)
            if word and word[1] in names:
                found.add(word[1])
            elif not word or word[1] in ("or", "be", "with", "for"):  # of an output, *out, NULL may be the value
                found |= {w.lstrip("*") for w in entry if w[0] != "*" or re.search(r"may be $", before, flags=re.I)}
    return found


def required(function):
    """Indices of the pointers that must be given."""
    options = r"const struct sotto_(\w*options|head_recipe|scattering|block_features|context) \*\w+$"
    told = documented(function)
    return [i for i, (name, text) in enumerate(declared[function][1]) if re.search(r"[*[]", text) and not re.match(options, text) and name not in told]


def given(kind):
    """A value of that type with nothing in it: zeros, and for a text "x"."""
    if kind.kind == "struct":
        return ffi.new(kind.cname + " *")[0]
    if kind.kind not in ("pointer", "function"):
        return ffi.cast(kind, kind.kind != "enum")
    block = ffi.new("char[]", 1 << 16)
    blocks.append(block)
    block[0] = b"x" if kind.cname == "char *" else b"\0"
    return ffi.cast(kind, block)


def is_defined(struct):
    try:
        return ffi.sizeof(f"struct {struct}") > 0
    except ffi.error:  # opaque
        return False


def requests():
    """The structs that only callers make: no function hands one out."""
    texts = [text for _, parameters in declared.values() for _, text in parameters]
    made = {m[1] for text in texts if (m := re.match(r"struct (sotto_\w+) \*", text)) or (m := re.search(r"struct (sotto_\w+) \*\*", text))}
    made |= {ffi.typeof(getattr(lib, f)).result.cname.removeprefix("struct ").removesuffix(" *") for f in functions}
    return {m[1] for text in texts if (m := re.match(r"const struct (sotto_\w+) \*\w+$", text)) and is_defined(m[1])} - made


def fill(struct):
    """Every count becomes 1, so that every array is missing; other members stay 0."""
    for name, member in ffi.typeof(struct).item.fields:
        if member.type.cname in ("size_t", "unsigned long"):
            setattr(struct, name, 1)
        elif member.type.kind == "struct":
            fill(ffi.addressof(struct, name))


blocks = []
functions = sorted(n for n in dir(lib) if n.startswith("sotto_") and not n.startswith("sotto_python"))


def call(function, nulls, filled=()):
    """One call, in a child process. Returns: what is wrong with its result, or ""."""
    blocks.clear()
    kind = ffi.typeof(getattr(lib, function))
    arguments = [ffi.NULL if i in nulls else given(a) for i, a in enumerate(kind.args)]
    for i in filled:
        fill(arguments[i])
    result = getattr(lib, function)(*arguments)
    names = [declared[function][1][i][0] for i in nulls]
    if kind.result.cname != "enum sotto_status" or not names or function in exceptions:
        return ""
    text = ffi.string(lib.sotto_error_text()).decode()
    if result != lib.SOTTO_EINVAL or not text.startswith(tuple(f"{function}: {n} is NULL" for n in names)):
        return f"{ffi.string(lib.sotto_status_name(result)).decode()}: {text}"
    return ""


def each(cases, writer):
    """Makes the calls, and writes a line for each."""
    for case in cases:
        signal.alarm(10)
        os.write(writer, (call(*case) + "\n").encode())


def wrong(folder, cases):
    """What goes wrong in these calls (the arguments of call()), a line each. One child makes them all; where it dies, the next goes on."""
    lines, done = [], 0
    while done < len(cases):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            faulthandler.disable()  # the parent says who died
            os.chdir(folder)
            null = os.open("/dev/null", os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            # In a thread that begins here: workers that another library (PyTorch) has of OpenMP are not in the child, and a thread from
            # before the fork would wait for them.
            caller = threading.Thread(target=each, args=(cases[done:], writer))
            caller.start()
            caller.join()
            os._exit(0)
        os.close(writer)
        with open(reader, encoding="utf-8") as told:
            results = told.read().split("\n")[:-1]
        lines += [f"{cases[done + i]}: {result}" for i, result in enumerate(results) if result]
        done += len(results)
        status = os.waitpid(child, 0)[1]
        if done < len(cases):  # the child made no more calls
            lines.append(f"{cases[done]}: ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"{cases[done]}: was not called")
            done += 1
    return "\n".join(lines)


def pointers(function):
    return {i for i, a in enumerate(ffi.typeof(getattr(lib, function)).args) if a.kind in ("pointer", "function")}


def test_no_pointer_at_all(tmp_path):
    """All are NULL: no function dies, and those with a status return EINVAL."""
    assert wrong(tmp_path, [(f, pointers(f)) for f in functions]) == ""
    assert len(functions) > 300  # also without any module


def test_each_required_pointer(tmp_path):
    """One is NULL and all others are given: the error names it, and nothing else was read."""
    cases = [(f, {i}) for f in functions for i in required(f)]
    assert wrong(tmp_path, cases) == ""
    assert not list(tmp_path.iterdir()), "a file was written"
    assert len(cases) > 500


def test_requests_with_nothing_in_them(tmp_path):
    """Requests of zeros, and of counts without their arrays: no function dies."""
    cases, ours = [], requests()
    for f in functions:
        structs = [m and m[1] for _, text in declared[f][1] for m in [re.match(r"const struct (sotto_\w+) \*+", text)]]
        handles = any(re.match(r"struct sotto_\w+ \*(?!\*)", text) and not is_defined(text.split()[1]) for _, text in declared[f][1])
        if any(structs) and set(structs) <= {None, *ours} and not handles and f not in slow:
            cases += [(f, (), ()), (f, (), [i for i, s in enumerate(structs) if s and is_defined(s)])]
    assert wrong(tmp_path, cases) == ""
    assert len(cases) > 50


def test_that_the_checks_find_what_they_are_for(tmp_path):
    """Negative control: a call that dies, and one that takes NULL."""
    lines = wrong(tmp_path, [("sotto_text_free", ()), ("sotto_head_free", {0}), ("sotto_team_same", {0})]).splitlines()
    assert len(lines) == 2 and "signal" in lines[0] and "sotto_team_same', {0}): OK" in lines[1]
