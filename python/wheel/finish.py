#!/usr/bin/env python3
"""Completes a wheel that auditwheel repaired: the licence texts of everything in it, the licence expression, licences in the list of
parts (CycloneDX), and where the exact sources are. Fails on a library of which no licence is known.

usage: finish.py REPAIRED.whl PREFIX FOLDER    PREFIX: what wheel/libraries made. Prints the name of the finished wheel, in FOLDER"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys

from auditwheel.wheeltools import InWheel
from packaging.licenses import canonicalize_license_expression

from parts import INSIDE, LIBRARIES

here = pathlib.Path(__file__).resolve().parent


def stem(library):
    """The name of a bundled library without auditwheel's hash and its version: libgmp of libgmp-1a2b3c4d.so.10."""
    return re.sub(r"(-[0-9a-f]{8})?\.so.*", "", library)


def text(part, prefix):
    """The licence text of a part, with the common texts that Debian's file refers to."""
    if not part.package:
        return (prefix / "licences" / f"{part.name}.txt").read_text()
    texts = [pathlib.Path(f"/usr/share/doc/{part.package}/copyright").read_text()]
    common = {pathlib.Path(name).resolve() for name in re.findall(r"/usr/share/common-licenses/[\w.-]*\w", texts[0])}
    return "\n\n".join(texts + [f"---- {c.name} ----\n\n{c.read_text()}" for c in sorted(common)])


def source(part):
    """Name and version of the Debian source package of a part."""
    if not part.package:
        archives = (here / "archives.sha256").read_text()
        return re.search(rf"({part.name.lower()})_(\S+)\.dsc", archives).groups()
    told = subprocess.run(["dpkg-query", "-W", "-f=${source:Package} ${source:Version}", part.package], capture_output=True, text=True, check=True)
    return tuple(told.stdout.split())


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    repaired, prefix, folder = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    finished = folder / repaired.name
    with InWheel(repaired, finished) as root:
        [info] = pathlib.Path(root).glob("*.dist-info")
        bundled = sorted(pathlib.Path(root).glob("*.libs/*"))
        unknown = [f.name for f in bundled if stem(f.name) not in LIBRARIES]
        if unknown:
            sys.exit(f"wheel/finish: no licence is known of {', '.join(unknown)} (python/wheel/parts.py)")
        parts = [(LIBRARIES[stem(f.name)], f) for f in bundled] + [(p, None) for p in INSIDE]

        licences = info / "licenses"
        licences.mkdir(exist_ok=True)
        (info / "LICENSE").unlink(missing_ok=True)
        (licences / "sotto.txt").write_text((here.parents[1] / "LICENSE").read_text())
        for part, _ in parts:
            (licences / f"{part.name}.txt").write_text(text(part, prefix))
        exact = sorted({"{1:20} {2} {3}".format(0, p.name, *source(p)) for p, _ in parts})
        (licences / "SOURCES.txt").write_text(
            "The exact sources of the libraries in this wheel are Debian's source packages of these versions. The libraries under the LGPL lie\n"
            "in a folder beside the package, each a shared library of its own, and can be replaced by other builds of the same interface.\n\n"
            + "\n".join(exact) + "\n\noneDNN and FLINT were built by python/wheel/libraries from these archives:\n"
            + (here / "archives.sha256").read_text())

        terms = sorted({t if " OR " not in t else f"({t})" for p, _ in parts for t in p.licence.split(" AND ")} - {"Apache-2.0"})
        expression = canonicalize_license_expression(" AND ".join(["Apache-2.0", *terms]))
        head, _, body = (info / "METADATA").read_text().partition("\n\n")
        kept = [line for line in head.splitlines() if not line.startswith(("Metadata-Version", "License", "Classifier: License"))]
        files = sorted(f.name for f in licences.iterdir())
        head = ["Metadata-Version: 2.4", *kept, f"License-Expression: {expression}", *(f"License-File: {f}" for f in files)]
        (info / "METADATA").write_text("\n".join(head) + "\n\n" + body)

        path = info / "sboms" / "auditwheel.cdx.json"
        bill = json.loads(path.read_text())
        components = bill["components"]
        by_package = {p.package: p for p, _ in parts if p.package}
        for c in components:
            c["licenses"] = [{"expression": by_package[c["name"]].licence if c["name"] in by_package else expression}]
        for part, library in parts:
            if part.package in {c["name"] for c in components}:
                continue
            name, version = source(part)
            c = {"type": "library", "name": part.name, "version": version, "licenses": [{"expression": part.licence}],
                 "purl": f"pkg:deb/debian/{name}@{version}?arch=source"}
            c["bom-ref"] = c["purl"] + "#" + part.name
            if library:
                c["hashes"] = [{"alg": "SHA-256", "content": hashlib.sha256(library.read_bytes()).hexdigest()}]
            components.append(c)
            bill["dependencies"][0]["dependsOn"].append(c["bom-ref"])
            bill["dependencies"].append({"ref": c["bom-ref"]})
        path.write_text(json.dumps(bill, indent=1) + "\n")
    print(finished)


if __name__ == "__main__":
    main()
