"""Data sets as they are published, written in the form that `sotto data import` and `--data` read.

    python -m sotto.datasets celeba FOLDER -o OUT       # --help lists the sets and what each expects
    sotto data import OUT --name celeba

Images are copied as they are, with labels.csv beside them (path, label, perhaps attribute, split, source); tables become features.npy
and labels.npy. OUT appears whole or not at all."""

from __future__ import annotations

import argparse
import csv
import fnmatch
import io
import json
import lzma
import os
import posixpath
import re
import shutil
import struct
import sys
import tarfile
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .errors import SottoError, make

__all__ = ["convert"]

_IMAGES = (".png", ".jpg", ".jpeg", ".pgm")
_EXIT = {"EUSAGE": 64, "EFORMAT": 65, "EINVAL": 65, "ENOENT": 66, "ECREATE": 73, "EIO": 74}


def _bad(text: str, hint: str = "") -> SottoError:
    return make("EFORMAT", text, hint)


def _is_image(name: str) -> bool:
    return name.lower().endswith(_IMAGES)


class _Files:
    """The files of a folder, of a zip or tar archive, or one file: their names in order, and read() for one of them."""

    def __init__(self, path: str) -> None:
        self.path = path
        if not os.path.exists(path):
            raise make("ENOENT", f"{path}: no such file or folder")
        self.read, names = self._open()
        self.names = [n for n in names if not any(part.startswith(".") for part in n.split("/") if part != ".")]
        self.images = [n for n in self.names if _is_image(n)]

    def _open(self) -> tuple[Callable[[str], bytes], list[str]]:
        if os.path.isdir(self.path):
            found = (os.path.relpath(os.path.join(folder, n), self.path) for folder, _, names in os.walk(self.path, followlinks=True) for n in names)
            return self._plain, sorted(n.replace(os.sep, "/") for n in found)
        if zipfile.is_zipfile(self.path):
            z = zipfile.ZipFile(self.path)
            return z.read, [n for n in z.namelist() if not n.endswith("/")]
        if tarfile.is_tarfile(self.path):
            t = tarfile.open(self.path)  # noqa: SIM115  read until the end
            return lambda name: t.extractfile(name).read(), [m.name for m in t if m.isfile()]  # type: ignore[union-attr]
        return lambda _: self._plain(""), [os.path.basename(self.path)]

    def _plain(self, name: str) -> bytes:
        with open(os.path.join(self.path, name) if name else self.path, "rb") as f:
            return f.read()

    def find(self, pattern: str) -> str | None:
        """The first file of that name, in whatever folder."""
        return next((n for n in self.names if fnmatch.fnmatchcase(posixpath.basename(n), pattern)), None)

    def need(self, pattern: str) -> str:
        found = self.find(pattern)
        if found is None:
            raise _bad(f"{self.path}: has no file {pattern}")
        return found

    def text(self, name: str) -> str:
        try:
            return self.read(name).decode()
        except UnicodeDecodeError:
            raise _bad(f"{self.path}: {name} is not UTF-8 text") from None

    def lines(self, name: str) -> Iterator[tuple[str, list[str]]]:
        """Words of each line that has some, with its place for messages."""
        for number, line in enumerate(self.text(name).splitlines(), 1):
            if line.split():
                yield f"{name}:{number}", line.split()


class _Fact(NamedTuple):
    """What is known about an image."""

    source: str
    label: str
    attribute: str = ""
    split: str = "train"


class _Images(NamedTuple):
    facts: list[_Fact]
    read: Callable[[str], bytes]
    order: list[str]  # in which they are read
    note: str = ""


class _Table(NamedTuple):
    features: np.ndarray[Any, Any]
    labels: np.ndarray[Any, Any]


def _common_end(a: str, b: str) -> int:
    pairs = zip(reversed(a.split("/")), reversed(b.split("/")), strict=False)
    return next((i for i, (x, y) in enumerate(pairs) if x != y), min(a.count("/"), b.count("/")) + 1)


def _listed(files: _Files, facts: Iterable[_Fact]) -> _Images:
    """The images that facts of a list mean: each the one with the longest common end of the two paths."""
    by_base: dict[str, list[str]] = defaultdict(list)
    taken: set[str] = set()
    kept: list[_Fact] = []
    missing = 0
    for name in files.images:
        by_base[posixpath.basename(name)].append(name)
    for fact in facts:
        near = by_base.get(posixpath.basename(fact.source), [])
        ends = [_common_end(name, fact.source) for name in near]
        if not near:
            missing += 1
            continue
        if ends.count(max(ends)) > 1:
            raise _bad(f"{files.path}: '{fact.source}' matches {ends.count(max(ends))} images; expected exactly one")
        name = near[ends.index(max(ends))]
        if name in taken:
            raise _bad(f"{files.path}: '{fact.source}' is listed twice")
        taken.add(name)
        kept.append(fact._replace(source=name))
    if not kept:
        raise _bad(f"{files.path}: none of the listed images is among the {len(files.images)} images found")
    unlisted = len(files.images) - len(kept)
    note = f"left out {missing} listed images that were not found and {unlisted} images that are not listed" if missing or unlisted else ""
    return _Images(kept, files.read, files.images, note)


def _celeba(files: _Files, label: str, attribute: str) -> _Images:
    table = files.need("list_attr_celeba.txt")
    partition = files.find("list_eval_partition.txt")
    splits: dict[str, str] = {}
    for where, words in files.lines(partition) if partition else ():
        if len(words) != 2 or words[1] not in ("0", "1", "2"):
            raise _bad(f"{where}: expected an image name and 0, 1 or 2")
        splits[words[0]] = ("train", "val", "test")[int(words[1])]
    lines = files.lines(table)
    stated, header = next(lines, ("", [""]))[1], next(lines, ("", [""]))[1]
    if len(stated) != 1 or not stated[0].isdecimal():
        raise _bad(f"{table}:1: expected only the number of images")
    asked = [label.split("+"), attribute.split("+")]
    for column in (c for columns in asked for c in columns):
        if column not in header:
            raise make("EINVAL", f"{table} has no column '{column}'")
    facts = []
    for where, words in lines:
        signs = dict(zip(header, words[1:], strict=False))
        if len(words) != len(header) + 1:
            raise _bad(f"{where}: {len(words)} words; expected an image name and {len(header)} numbers")
        for column in (c for columns in asked for c in columns):
            if signs[column] not in ("1", "-1"):
                raise _bad(f"{where}: '{signs[column]}'; expected 1 or -1")
        if partition and words[0] not in splits:
            raise _bad(f"{where}: '{words[0]}' is not in {partition}")
        labelled, attributed = (", ".join(c if signs[c] == "1" else f"not {c}" for c in columns) for columns in asked)
        facts.append(_Fact(words[0], labelled, attributed, splits.get(words[0], "train")))
    if len(facts) != int(stated[0]):
        raise _bad(f"{table}: the first line states {stated[0]} images but the table has {len(facts)}")
    return _listed(files, facts)


def _chest_xray(files: _Files, label: str, attribute: str) -> _Images:
    table, tests = files.need("Data_Entry_*.csv"), files.find("test_list*.txt")
    held = {words[0] for _, words in files.lines(tests)} if tests else set()
    rows = csv.reader(io.StringIO(files.text(table), newline=""))
    header = next(rows, [])
    for column in ("Image Index", label, attribute):
        if column not in header:
            raise make("EINVAL", f"{table} has no column '{column}'")
    image, first, second = (header.index(c) for c in ("Image Index", label, attribute))
    facts = []
    for row in rows:
        if row and len(row) != len(header):
            raise _bad(f"{table}:{rows.line_num}: {len(row)} cells; expected {len(header)}")
        if row:
            facts.append(_Fact(row[image], row[first].split("|")[0], row[second], "test" if row[image] in held else "train"))
    return _listed(files, facts)


def _places(files: _Files) -> _Images:
    lists = [n for n in files.names if n.endswith(".json")]
    if len(lists) != 1:
        raise _bad(f"{files.path}: has {len(lists)} files *.json; expected one")
    try:
        rows = json.loads(files.text(lists[0]))
    except json.JSONDecodeError as e:
        raise _bad(f"{lists[0]}: {e}") from None
    if not isinstance(rows, list):
        raise _bad(f"{lists[0]}: expected a list of lists [path, category, indoor or outdoor]")
    for i, row in enumerate(rows):
        if not (isinstance(row, list) and len(row) == 3 and isinstance(row[0], str) and all(type(x) in (str, int) for x in row[1:])):
            raise _bad(f"{lists[0]}: entry {i}: expected a list [path, category, indoor or outdoor] of texts or numbers")
    return _listed(files, (_Fact(path, str(inside), str(category)) for path, category, inside in rows))


def _utkface(files: _Files, label: str, attribute: str) -> _Images:
    genders, races = ("male", "female"), ("White", "Black", "Asian", "Indian", "other")
    facts = []
    for name in files.images:
        m = re.match(r"(\d{1,3})_([01])_([0-4])_\d+\.", posixpath.basename(name))
        if m and int(m[1]) <= 116:
            told = {"age": m[1], "gender": genders[int(m[2])], "race": races[int(m[3])]}
            for column in (label, attribute):
                if column not in told:
                    raise make("EINVAL", f"utkface has no '{column}'; expected gender, race or age")
            facts.append(_Fact(name, told[label], told[attribute]))
    if not facts:
        raise _bad(f"{files.path}: has no images age_gender_race_time.jpg")
    left = len(files.images) - len(facts)
    return _Images(facts, files.read, files.images, f"left out {left} images whose names lack a field" if left else "")


def _shuffled(x: int) -> int:
    """splitmix64's last step: any fixed shuffle of the patients would do."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


def _idc(files: _Files) -> _Images:
    """Patients stay whole, so that training and test part never share one; the training part is as large as the paper's."""
    places: dict[tuple[int, int, int, int], tuple[str, str]] = {}
    small = copies = 0
    for name in files.images:
        m = re.fullmatch(r"(\d{1,9})_idx\d+_x(\d{1,9})_y(\d{1,9})_class([01])\.png", posixpath.basename(name), re.IGNORECASE)
        if not m:
            raise _bad(f"{files.path}: {name} is not the file name of a patch; expected PATIENT_idx5_xX_yY_class0.png or _class1.png")
        folder = posixpath.basename(posixpath.dirname(name))
        if folder in ("0", "1") and folder != m[4]:
            raise _bad(f"{files.path}: {name} is named class {m[4]} but is in folder {folder}")
        patient = int(m[1])
        place = (_shuffled(patient), patient, int(m[3]), int(m[2]))
        if files.read(name)[16:24] != struct.pack(">II", 50, 50):  # width and height of a PNG
            small += 1
        elif place in places:
            copies += 1
        else:
            places[place] = (name, ("no IDC", "with IDC")[int(m[4])])
    if not places:
        raise _bad(f"{files.path}: none of {len(files.images)} images has 50x50 pixels")
    facts: list[_Fact] = []
    training, last = True, None
    for place in sorted(places):
        training = training and (place[1] == last or len(facts) < max(1, 39952 / 277524 * len(places)))
        facts.append(_Fact(*places[place], "", "train" if training else "test"))
        last = place[1]
    return _Images(facts, files.read, files.images, f"left out {small} patches that are not 50x50 and {copies} copies" if small or copies else "")


def _mat_elements(data: bytes, where: str) -> Iterator[tuple[int, bytes]]:
    """Types and contents of the elements of a MATLAB file of version 5; packed ones are unpacked."""
    at = 0
    while at < len(data):
        if len(data) - at < 8:
            raise _bad(f"{where} is cut: {len(data) - at} bytes are left")
        kind, size = struct.unpack_from("<II", data, at)
        begin, step = (at + 4, 8) if kind >> 16 else (at + 8, 8 + (size if kind == 15 else -(-size // 8) * 8))
        kind, size = (kind & 0xFFFF, kind >> 16) if kind >> 16 else (kind, size)
        if begin + size > len(data):
            raise _bad(f"{where} is cut: an element states {size} bytes")
        content = data[begin:begin + size]
        at += step
        if kind == 15:
            try:
                yield from _mat_elements(zlib.decompress(content), where)
            except zlib.error:
                raise _bad(f"{where}: packed data is cut or damaged") from None
        else:
            yield kind, content


def _mat(data: bytes, where: str) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of real numbers of a MATLAB file of version 5, by their names."""
    types = {1: "i1", 2: "u1", 3: "<i2", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<f4", 9: "<f8", 12: "<i8", 13: "<u8"}
    if len(data) < 128 or data[124:128] != b"\0\1IM":
        raise _bad(f"{where} is not a MATLAB file of version 5, little-endian")
    found = {}
    for kind, content in _mat_elements(data[128:], where):
        parts = list(_mat_elements(content, where)) if kind == 14 else []
        if len(parts) != 4 or parts[3][0] not in types:  # flags, shape, name, values; complex arrays have a fifth
            continue
        shape, values = np.frombuffer(parts[1][1], "<i4"), parts[3][1]
        dtype = np.dtype(types[parts[3][0]])
        if len(values) != int(np.prod(shape, dtype=np.int64)) * dtype.itemsize:
            raise _bad(f"{where} has {len(values)} bytes of values for an array of shape {tuple(map(int, shape))}")
        found[parts[2][1].decode("latin-1")] = np.frombuffer(values, dtype).reshape(shape, order="F")
    return found


def _png(image: np.ndarray[Any, Any]) -> bytes:
    """A PNG file of (height, width, 3) bytes."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], 8, 2, 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def _svhn(files: _Files) -> _Images:
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    facts: list[_Fact] = []
    for split in ("train", "test"):
        name = files.need(f"{split}_32x32.mat")
        found = _mat(files.read(name), name)
        for array in ("X", "y"):
            if array not in found:
                raise _bad(f"{name} has no array '{array}' of real numbers")
        x, y = found["X"], found["y"].reshape(-1)
        x = x.reshape(*x.shape, 1) if x.ndim == 3 else x  # a last side of 1 is not written
        if x.dtype != np.uint8 or x.ndim != 4 or x.shape[2] != 3:
            raise _bad(f"{name}: array 'X' is not of (height, width, 3, images) bytes")
        if len(y) != x.shape[3]:
            raise _bad(f"{name}: {len(y)} labels for {x.shape[3]} images")
        for i, digit in enumerate(y):
            if digit not in range(11):
                raise _bad(f"{name}: label {digit:g} of image {i}; expected a digit, 1 to 9, or 10 for 0")
        arrays[split] = x
        facts += [_Fact(f"{split}/{i}.png", str(int(digit) % 10), "", split) for i, digit in enumerate(y)]

    def read(name: str) -> bytes:
        split, number = name[:-4].split("/")
        return _png(arrays[split][..., int(number)])

    return _Images(facts, read, [fact.source for fact in facts])


def _bits(where: str, line: bytes, columns: int) -> np.ndarray[Any, Any]:
    cells = np.frombuffer(line, np.uint8)
    if len(cells) != 2 * columns - 1 or (cells[1::2] != ord(",")).any() or ((cells[::2] | 1) != ord("1")).any():
        raise _bad(f"{where}: expected {columns} bits, 0 or 1, with commas between them")
    return cells[::2] - ord("0")


def _class(where: str, text: bytes) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 10000:
        raise _bad(f"{where}: expected a class, a whole number from 1 to 10000")
    return int(text) - 1


def _bit_table(name: str, lines: list[bytes], classes: list[int]) -> _Table:
    if not lines:
        raise _bad(f"{name}: holds no line of bits")
    columns = len(lines[0]) // 2 + 1
    features = np.empty((len(lines), columns), np.uint8)
    for i, line in enumerate(lines):
        features[i] = _bits(f"{name}:{i + 1}", line, columns)
    return _Table(features, np.array(classes, np.int64))


def _purchase(files: _Files) -> _Table:
    name = files.need("dataset_purchase")
    cut = [line.partition(b",") for line in files.read(name).splitlines()]
    return _bit_table(name, [bits for _, _, bits in cut], [_class(f"{name}:{i}", first) for i, (first, _, _) in enumerate(cut, 1)])


def _texas(files: _Files) -> _Table:
    name, beside = files.need("feats"), files.need("labels")
    lines, classes = files.read(name).splitlines(), files.read(beside).splitlines()
    if len(lines) != len(classes):
        raise _bad(f"{beside}: contains {len(classes)} classes but {name} has {len(lines)} lines; expected one class per line")
    return _bit_table(name, lines, [_class(f"{beside}:{i}", c.strip()) for i, c in enumerate(classes, 1)])


class _Set(NamedTuple):
    convert: Callable[..., _Images | _Table]
    expects: str
    columns: tuple[str, ...] = ()  # label and attribute, where they can be chosen


_SETS = {
    "celeba": _Set(_celeba, "list_attr_celeba.txt, perhaps list_eval_partition.txt, and the images; columns may be joined: A+B", ("Male", "Attractive+Smiling")),
    "chest-xray": _Set(_chest_xray, "ChestX-ray8: Data_Entry_2017.csv, perhaps test_list.txt, and the images; of several findings the first is taken",
                       ("Finding Labels", "Patient Gender")),
    "idc": _Set(_idc, "patches PATIENT_idx5_xX_yY_class0.png or _class1.png, 50x50; patients stay whole"),
    "places": _Set(_places, "one *.json, a list of [path, category, indoor or outdoor], and the images; the category is the attribute"),
    "purchase": _Set(_purchase, "Purchase-100: dataset_purchase, lines of a class and bits"),
    "svhn": _Set(_svhn, "format 2: train_32x32.mat and test_32x32.mat"),
    "texas": _Set(_texas, "Texas-100: feats, lines of bits, and labels, one class a line"),
    "utkface": _Set(_utkface, "images age_gender_race_time.jpg; columns: gender, race, age", ("gender", "race")),
}


def _write_images(made: _Images, folder: str) -> str:
    facts = sorted(made.facts, key=lambda fact: ("train", "val", "test").index(fact.split))
    attributes = any(fact.attribute for fact in facts)
    for what, values in (("label", {fact.label for fact in facts}), ("attribute", {fact.attribute for fact in facts})):
        if what == "attribute" and not attributes:
            continue
        if "" in values:
            raise _bad(f"'{next(f.source for f in facts if not getattr(f, what))}': its {what} is empty")
        if len(values) < 2:
            raise _bad(f"all images have the {what} '{values.pop()}'; expected at least two values")
    paths = {fact.source: f"images/{i:07}{posixpath.splitext(fact.source)[1].lower()}" for i, fact in enumerate(facts)}
    os.mkdir(os.path.join(folder, "images"))
    for name in made.order:  # of an archive, so that it is read once
        if name in paths:
            with open(os.path.join(folder, paths[name]), "wb") as image:
                image.write(made.read(name))
    with open(os.path.join(folder, "labels.csv"), "w", newline="", encoding="utf-8") as f:
        rows = csv.writer(f, lineterminator="\n")
        rows.writerow(["path", "label", *["attribute"] * attributes, "split", "source"])
        rows.writerows([paths[x.source], x.label, *[x.attribute] * attributes, x.split, x.source] for x in facts)
    training = sum(fact.split == "train" for fact in facts)
    return f"{len(facts)} images, {training} for training" + (f"; {made.note}" if made.note else "")


def convert(name: str, path: str | os.PathLike[str], output: str | os.PathLike[str], *, label: str | None = None, attribute: str | None = None) -> str:
    """Writes the set `name`, as it is published in the folder or archive `path`, into the new folder `output`, and says in a line what it is.

    label, attribute: columns of celeba ("A+B": both), chest-xray and utkface. Raises InvalidArgument, NotFound, FileError; nothing
    is left behind then.

    >>> _ = (folder / "dataset_purchase").write_text("1,0,1,1\\n2,0,0,1\\n")
    >>> sotto.datasets.convert("purchase", folder, folder / "made")
    '2 records of 3 bits, 2 classes'
    >>> sotto.Dataset.open(folder / "made").classes
    2
    """
    if name not in _SETS:
        raise make("EUSAGE", f"'{name}' is no such set; expected one of {', '.join(_SETS)}")
    columns = _SETS[name].columns
    if not columns and (label or attribute):
        raise make("EUSAGE", f"{name}: label and attribute cannot be chosen")
    out = os.path.abspath(output)
    if os.path.lexists(out):
        raise make("ECREATE", f"{output}: exists already", "remove it, or choose another folder")
    temporary = os.path.join(os.path.dirname(out), f".{os.path.basename(out)}.{os.getpid()}")
    try:
        files = _Files(os.fspath(path))
        chosen = [given or default for given, default in zip((label, attribute), columns, strict=False)]
        made = _SETS[name].convert(files, *chosen)
        os.mkdir(temporary)
        if isinstance(made, _Images):
            told = _write_images(made, temporary)
        else:
            np.save(os.path.join(temporary, "features.npy"), made.features)
            np.save(os.path.join(temporary, "labels.npy"), made.labels)
            told = f"{len(made.features)} records of {made.features.shape[1]} bits, {len(np.unique(made.labels))} classes"
        os.rename(temporary, out)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, RuntimeError) as e:
        raise _bad(f"{path}: the archive cannot be read: {e}") from e
    except OSError as e:
        if isinstance(e, SottoError):
            raise
        raise make("EIO", f"{e.filename or path}: {e.strerror or e}") from e
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return told


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        self.exit(64, f"sotto.datasets: error: {message}\n")


def main(arguments: list[str] | None = None) -> int:
    """The command. Exit codes are those of the program."""
    lines = [f"  {name:11} {s.expects}" + (f" (--label [{s.columns[0]}], --attribute [{s.columns[1]}])" if s.columns else "") for name, s in _SETS.items()]
    parser = _Parser(prog="python -m sotto.datasets", description="Writes a data set as it is published in the form that 'sotto data import' reads.",
                     epilog="sets, and what PATH holds, in any folders below:\n" + "\n".join(lines), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=_SETS, metavar="NAME", help="set, see below")
    parser.add_argument("path", metavar="PATH", help="folder or archive (zip, tar) with the files")
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="folder to write")
    parser.add_argument("--label", metavar="COLUMN", help="column that becomes the label")
    parser.add_argument("--attribute", metavar="COLUMN", help="column that becomes the attribute")
    given = parser.parse_args(arguments)
    try:
        told = convert(given.name, given.path, given.output, label=given.label, attribute=given.attribute)
    except SottoError as e:
        print(f"sotto.datasets: error: {str(e.args[0]).partition(chr(10))[0]}", file=sys.stderr)
        if e.hint:
            print(f"hint: {e.hint}", file=sys.stderr)
        return _EXIT[e.status]
    print(f"{given.output}: {told}\nnext: sotto data import {given.output} --name {given.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
