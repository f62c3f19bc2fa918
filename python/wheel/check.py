#!/usr/bin/env python3
"""Opens a wheel and fails where it holds what it must not, or lacks what it must have: names and needs of libraries, licences, program, size.

usage: check.py WHEEL"""
import email
import json
import os
import re
import sys
import zipfile

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from finish import stem
from parts import FORBIDDEN, INSIDE, LAB, LARGEST, LIBRARIES, REPLACEABLE, SYSTEM


def needed(file):
    """Names of the libraries that an ELF file loads; none for another file."""
    if file.read(4) != b"\x7fELF":
        return []
    return [tag.needed for section in ELFFile(file).iter_sections() if isinstance(section, DynamicSection)
            for tag in section.iter_tags() if tag.entry.d_tag == "DT_NEEDED"]


def problems(path):
    """One line for each thing that is wrong."""
    if os.path.getsize(path) > LARGEST:
        yield f"{os.path.getsize(path) / 1e6:.1f} MB; at most {LARGEST / 1e6:.0f} MB"
    if not re.search(r"-cp310-abi3-manylinux_\d+_\d+_x86_64(\.manylinux[^.]*)*\.whl$", path):
        yield "its name does not end in cp310-abi3-manylinux_..._x86_64.whl"
    with zipfile.ZipFile(path) as wheel:
        names = [n for n in wheel.namelist() if not n.endswith("/")]
        libraries = [n for n in names if os.path.dirname(n).endswith(".libs")]
        texts = {os.path.basename(n) for n in names if ".dist-info/licenses/" in n and wheel.getinfo(n).file_size > 500}
        inside = {os.path.basename(n) for n in names}
        for name in names:
            if ".so" not in os.path.basename(name) and not name.endswith("bin/sotto"):
                continue
            with wheel.open(name) as file:
                for library in [os.path.basename(name), *needed(file)]:
                    if re.search(FORBIDDEN, library, re.I):
                        yield f"{name}: {library} must not be in it"
                    elif library not in inside and stem(library) not in SYSTEM:
                        yield f"{name} needs {library}, which is not in the wheel"
        for name in libraries:
            part = LIBRARIES.get(stem(os.path.basename(name)))
            if part is None:
                yield f"{name}: no licence is known of it"
            elif f"{part.name}.txt" not in texts:
                yield f"{name}: its licence text {part.name}.txt is missing"
        for text in ["sotto.txt", "SOURCES.txt", *(f"{p.name}.txt" for p in INSIDE)]:
            if text not in texts:
                yield f"the licence text {text} is missing"
        for name in REPLACEABLE:
            if name not in map(stem, map(os.path.basename, libraries)):
                yield f"{name} is no library of its own"
        for name in LAB:
            if f"sotto/lab/{name}" not in names:
                yield f"sotto/lab/{name}, which is of a module, is missing"
        program = [n for n in names if n.endswith("bin/sotto")]
        if not program or not wheel.getinfo(program[0]).external_attr >> 16 & 0o111:
            yield "there is no program in it, or it cannot be executed"
        meta = email.message_from_bytes(wheel.read(next(n for n in names if n.endswith(".dist-info/METADATA"))))
        expression = meta["License-Expression"] or ""
        for part in [LIBRARIES[s] for s in map(stem, map(os.path.basename, libraries)) if s in LIBRARIES] + INSIDE:
            if not all(term in expression for term in part.licence.split(" AND ")):
                yield f"License-Expression lacks {part.licence} ({part.name})"
        if set(meta.get_all("License-File", [])) != {os.path.basename(n) for n in names if ".dist-info/licenses/" in n}:
            yield "License-File and the folder of licences differ"
        bills = [n for n in names if n.endswith(".cdx.json")]
        components = json.loads(wheel.read(bills[0]))["components"] if bills else []
        if len(components) != 1 + len(libraries) + len(INSIDE) or not all(c.get("licenses") for c in components):
            yield "the list of parts (CycloneDX) lacks a part or a licence"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(problems(sys.argv[1]))
    if found:
        sys.exit("\n".join(f"wheel/check: {p}" for p in found))
    print(f"wheel/check: {os.path.basename(sys.argv[1])}: {os.path.getsize(sys.argv[1]) / 1e6:.1f} MB, nothing found")


if __name__ == "__main__":
    main()
