#!/usr/bin/env python3
"""Writes the C source of the binding from sotto/private/all.h and sotto/lab.h (with the modules of the build), and compiles it where a library is given.

Nothing is declared by hand: the compiler's preprocessor reads the headers, and cffi checks every struct against them when it
compiles. What the headers must keep to: C99, no macro in a declaration but SOTTO_API and SOTTO_MUST_CHECK, array lengths that are
numbers or enumerators.

usage: build_binding.py INCLUDES OUTPUT.c [LIBRARY FOLDER]      (INCLUDES: folders with ':' between them)
       FOLDER/_sotto.abi3.so is then compiled and linked with LIBRARY, which it finds by its full path"""
import os
import re
import shlex
import subprocess
import sys
import sysconfig

import cffi

# Macros that are values. (cffi wants a type for each; those that are not whole numbers are constants.)
MACROS = """
#define SOTTO_NONE ...
#define SOTTO_SEED_ZERO ...
#define SOTTO_STOP_BY_TIME ...
static const double SOTTO_ZERO, SOTTO_DELTA_PURE;
"""
# What C calls back: functions of _call.py.
CALLBACKS = """
extern "Python" void sotto_python_progress(void *, const char *, uint64_t, uint64_t, const char *);
extern "Python" void sotto_python_log(void *, enum sotto_log_level, const char *);
extern "Python" sotto_status sotto_python_model(void *, float *, const float *, size_t);
"""


HEADERS = "#include <sotto/private/all.h>\n#include <sotto/lab.h>\n"


def options(include):
    return [word for folder in include.split(":") for word in ("-I", folder)]


def declarations(include):
    """The public headers as cffi reads them: without system headers, attributes and inline functions."""
    command = shlex.split(os.environ.get("CC", "cc")) + ["-E", "-x", "c", *options(include), "-"]
    text = subprocess.run(command, input=HEADERS, capture_output=True, text=True, check=True).stdout
    kept, ours = [], False
    for line in text.splitlines():
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            ours = os.path.basename(os.path.dirname(marker[1])) in ("sotto", "lab", "private")
        elif ours:
            kept.append(line)
    text = "\n".join(kept)
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)\s*(?=[\w;])", "", text)
    text = re.sub(r"__attribute__\s*\(\(\w+\(\"\w+\"\)\)\)", "", text)
    text = re.sub(r"static inline [^{;]*\{.*?\n\}", "", text, flags=re.S)
    if cffi.__version_info__ < (1, 16):  # which puts the const of a pointer to arrays where C does not take it
        text = re.sub(r"\bconst ([\w ]+) (\(\*\w+\)\[)", r"\1 \2", text)
    return text.replace("volatile sig_atomic_t", "volatile int")


def builder(include):
    ffi = cffi.FFI()
    ffi.cdef(declarations(include) + MACROS + CALLBACKS)
    ffi.set_source("sotto._sotto", HEADERS, py_limited_api=True)
    return ffi


def compile_binding(source, include, library, folder):
    output = os.path.join(folder, "_sotto.abi3.so")
    if os.path.exists(output) and os.path.getmtime(output) > max(map(os.path.getmtime, (source, __file__))):
        return
    place = os.path.dirname(os.path.abspath(library))
    command = shlex.split(os.environ.get("CC", "cc")) + [
        "-O0", "-fPIC", "-shared", *options(include), "-I", sysconfig.get_path("include"), "-o", output + ".part", source, library,
        f"-Wl,-rpath,{place}"]
    subprocess.run(command, check=True)
    os.replace(output + ".part", output)


def main():
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    include, source = sys.argv[1:3]
    os.makedirs(os.path.dirname(os.path.abspath(source)), exist_ok=True)
    builder(include).emit_c_code(source)
    if len(sys.argv) == 5:
        compile_binding(source, include, *sys.argv[3:])


if __name__ == "__main__":
    main()
