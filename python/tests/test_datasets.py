"""python -m sotto.datasets: sets as they are published, a few records each; what is written is read by the program; bad files are refused."""

import csv
import json
import os
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib

import numpy as np
import pytest

import sotto
from sotto.datasets import _png, convert

program = os.environ.get("SOTTO", "sotto")


def image(level, height=4, width=4):
    return _png(np.full((height, width, 3), level, np.uint8))


def put(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


CELEBA = {"Anno/list_attr_celeba.txt": "3\n5_o_Clock_Shadow Attractive Male Smiling \n000001.png -1  1 -1 1\n000002.png -1 -1  1  1\r\n000003.png 1 1 1 -1\n",
          "Eval/list_eval_partition.txt": "000001.png 2\n000002.png 0\n000003.png 0\n",
          **{f"img_align_celeba/00000{i}.png": image(10 * i) for i in (1, 2, 3)}}
# As published: a comma within a name of the header, and one at the end of each row.
CHEST = {"Data_Entry_2017.csv": "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,View Position,OriginalImage[Width,Height],"
                                "OriginalImagePixelSpacing[x,y],\n00000001_000.png,Cardiomegaly,0,1,58,M,PA,2682,2749,0.143,0.143,\n"
                                "00000001_001.png,Emphysema|Cardiomegaly,1,1,58,M,PA,2894,2729,0.143,0.143,\n"
                                "00000002_000.png,No Finding,0,2,81,F,PA,2500,2048,0.171,0.171,\n",
         "test_list.txt": "00000002_000.png\r\n00000001_000.png\n", "images_001/images/00000001_000.png": image(10),
         "images_001/images/00000001_001.png": image(20), "images_002/images/00000002_000.png": image(30)}
PLACES = {"places/list.json": json.dumps([["/data/places/attic/00000001.png", "attic", 0], ["abbey/00000001.png", "abbey", 1],
                                          ["attic/00000002.png", "attic", 0], ["attic/00000003.png", "attic", 0]]),
          "places/abbey/00000001.png": image(10), "places/attic/00000001.png": image(20), "places/attic/00000002.png": image(30),
          "places/attic/00000009.png": image(90)}
UTKFACE = {"26_1_3_20170104023102422.png": image(10), "80_0_0_20170104023102423.png": image(20), "1_0_3_20170104023102424.png": image(30),
           "61_1_20170109142408075.png": image(40), "117_0_0_1.png": image(50), "1_0_5_1.png": image(60)}
# Patients 1 .. 7 with ten patches each, of which the first is small.
IDC = {f"set/{p}/{int(k % 3 == 0)}/{p}_idx5_x{50 * k + 1}_y101_class{int(k % 3 == 0)}.png": image(10 * p + k, 50 if k else 20, 50)
       for p in range(1, 8) for k in range(10)}
IDC["again/1/0/1_idx5_x201_y101_class0.png"] = image(14, 50, 50)


def element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def mat(arrays, packed=False):
    """A MATLAB file: name, class, and the type its values are stored as."""
    out = b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM"
    for name, (kind, stored, a) in arrays.items():
        inside = element(6, bytes([kind]) + bytes(7)) + element(5, np.array(a.shape, "<i4").tobytes())
        inside += struct.pack("<HH", 1, len(name)) + name.encode().ljust(4, b"\0") + element(stored, a.tobytes(order="F"))
        whole = element(14, inside)
        small = zlib.compress(whole)
        out += struct.pack("<II", 15, len(small)) + small if packed else whole
    return out


def digits(n, first, labels, packed=False, stored=9, dtype="<f8"):
    x = (first + np.arange(n * 24) % 100).astype(np.uint8).reshape(4, 2, 3, n, order="F")
    return mat({"X": (9, 2, x), "y": (6, stored, np.array(labels, dtype).reshape(-1, 1))}, packed)


SVHN = {"train_32x32.mat": digits(3, 0, [1, 10, 9]), "test_32x32.mat": digits(2, 100, [10, 5], True, 2, "u1"), "extra_32x32.mat": "left alone"}
PURCHASE = {"dataset_purchase": "2,0,1,1\r\n1,1,0,0\n3,0,0,1\n"}
TEXAS = {"texas/100/feats": "0,1,1\n1,0,0\n", "texas/100/labels": "2\n1\n"}
SETS = {"celeba": CELEBA, "chest-xray": CHEST, "idc": IDC, "places": PLACES, "purchase": PURCHASE, "svhn": SVHN, "texas": TEXAS, "utkface": UTKFACE}


def table(folder):
    with open(folder / "labels.csv", newline="") as f:
        return {row["source"]: row for row in csv.DictReader(f)}


def made(tmp_path, name, **options):
    told = convert(name, put(tmp_path / "in", SETS[name]), tmp_path / "out", **options)
    return told, sotto.Dataset.open(tmp_path / "out")


@pytest.mark.parametrize("name", SETS)
def test_the_program_imports_what_the_command_writes(tmp_path, name):
    put(tmp_path / "in", SETS[name])
    command = [sys.executable, "-m", "sotto.datasets", name, tmp_path / "in", "-o", tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and f"sotto data import {tmp_path}/out --name {name}" in done.stdout, done.stderr
    done = subprocess.run([program, "data", "import", tmp_path / "out", "--name", name, "--quiet"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sotto.Dataset.open(name).classes >= 2
    assert sorted(os.listdir(tmp_path)) == ["home", "in", "out"]


def test_celeba(tmp_path):
    told, data = made(tmp_path, "celeba")
    assert told == "3 images, 2 for training"
    rows = table(tmp_path / "out")
    assert [rows[f"img_align_celeba/00000{i}.png"]["label"] for i in (1, 2, 3)] == ["not Male", "Male", "Male"]
    assert [rows[f"img_align_celeba/00000{i}.png"]["attribute"] for i in (1, 2, 3)] == ["Attractive, Smiling", "not Attractive, Smiling", "Attractive, not Smiling"]
    assert [rows[f"img_align_celeba/00000{i}.png"]["split"] for i in (1, 2, 3)] == ["test", "train", "train"]
    assert sorted(data.images[:, 0, 0, 0].tolist()) == [10, 20, 30] and data.images[2, 0, 0, 0] == 10 and data.classes == 2


def test_columns_are_chosen(tmp_path):
    made(tmp_path, "utkface", label="race", attribute="age")
    rows = table(tmp_path / "out")
    assert {(r["label"], r["attribute"]) for r in rows.values()} == {("Indian", "26"), ("White", "80"), ("Indian", "1")}
    convert("celeba", put(tmp_path / "faces", CELEBA), tmp_path / "second", label="Smiling+Male", attribute="Attractive")
    assert {r["label"] for r in table(tmp_path / "second").values()} == {"Smiling, not Male", "Smiling, Male", "not Smiling, Male"}


def test_chest_xray(tmp_path):
    told, data = made(tmp_path, "chest-xray")
    rows = table(tmp_path / "out")
    assert told == "3 images, 1 for training"
    assert [(r["label"], r["attribute"], r["split"]) for _, r in sorted(rows.items())] == [
        ("Cardiomegaly", "M", "test"), ("Emphysema", "M", "train"), ("No Finding", "F", "test")]
    assert data.images[0, 0, 0, 0] == 20


def test_places(tmp_path):
    told, data = made(tmp_path, "places")
    assert told == "3 images, 3 for training; left out 1 listed images that were not found and 1 images that are not listed"
    assert data.images[:, 0, 0, 0].tolist() == [20, 30, 10] and data.labels.tolist() == [0, 0, 1]


def test_utkface(tmp_path):
    told, data = made(tmp_path, "utkface")
    assert told == "3 images, 3 for training; left out 3 images whose names lack a field"
    assert data.class_names == ("female", "male") and data.images[:, 0, 0, 0].tolist() == [10, 30, 20]


def test_idc(tmp_path):
    told, data = made(tmp_path, "idc")
    assert told == "63 images, 18 for training; left out 7 patches that are not 50x50 and 1 copies"
    rows = table(tmp_path / "out").values()
    patients = {split: {r["source"].rpartition("/")[2].partition("_")[0] for r in rows if r["split"] == split} for split in ("train", "test")}
    assert len(patients["train"]) == 2 and len(patients["test"]) == 5 and not patients["train"] & patients["test"]
    assert data.class_names == ("no IDC", "with IDC") and np.bincount(data.labels).tolist() == [42, 21]
    assert ((data.images[:, 0, 0, 0] % 10 % 3 == 0) == data.labels).all()


def test_svhn(tmp_path):
    told, data = made(tmp_path, "svhn")
    assert told == "5 images, 3 for training" and data.images.shape == (5, 3, 4, 2)
    # bytes 0 1 2 3 are the first column of the first colour
    digit = [int(data.class_names[k]) for k in data.labels]
    first = data.images[digit.index(1)]
    assert first[0].tolist() == [[0, 4], [1, 5], [2, 6], [3, 7]] and first[1, 0, 0] == 8
    assert sorted(zip(digit, data.images[:, 0, 0, 0].tolist(), strict=True)) == [(0, 24), (0, 100), (1, 0), (5, 124), (9, 48)]


@pytest.mark.parametrize("name", ["purchase", "texas"])
def test_tables_of_bits(tmp_path, name):
    _, data = made(tmp_path, name)
    assert data.features[:2].tolist() == [[0, 1, 1], [1, 0, 0]] and data.labels[:2].tolist() == [1, 0]


@pytest.mark.parametrize("kind", ["zip", "tar.gz", "tar.xz"])
def test_archives(tmp_path, kind):
    put(tmp_path / "in", IDC)
    archive = tmp_path / f"a.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(archive, "w") as z:
            for name in sorted(IDC):
                z.write(tmp_path / "in" / name, name)
    else:
        with tarfile.open(archive, f"w:{kind[4:]}") as t:
            t.add(tmp_path / "in", "in")
    assert convert("idc", archive, tmp_path / "out") == convert("idc", tmp_path / "in", tmp_path / "plain")
    of_archive, of_folder = sotto.Dataset.open(tmp_path / "out"), sotto.Dataset.open(tmp_path / "plain")
    assert (of_archive.images == of_folder.images).all() and (of_archive.labels == of_folder.labels).all()


def attr(text, **more):
    return {**CELEBA, "Anno/list_attr_celeba.txt": text, "Eval/list_eval_partition.txt": "a.png 0\n", **more}


HEAD = "Image Index,Finding Labels,Patient Gender\n"
REFUSED = [
    ("celeba", attr(""), "list_attr_celeba.txt:1: expected only the number of images"),
    ("celeba", attr("Male\n"), ":1: expected only the number of images"),
    ("celeba", attr("1\nMale Smiling\n"), "has no column 'Attractive'"),
    ("celeba", attr("1\nMale Smiling Attractive\na.png 1 1\n"), ":3: 3 words; expected an image name and 3 numbers"),
    ("celeba", attr("1\nMale Smiling Attractive\na.png 1 1 1 1\n"), ":3: 5 words"),
    ("celeba", attr("1\nMale Smiling Attractive\na.png 1 0 1\n"), ":3: '0'; expected 1 or -1"),
    ("celeba", attr("2\nMale Smiling Attractive\na.png 1 1 1\n"), "the first line states 2 images but the table has 1"),
    ("celeba", attr("1\nMale Smiling Attractive\nb.png 1 1 1\n"), "'b.png' is not in Eval/list_eval_partition.txt"),
    ("celeba", attr("1\nMale Smiling Attractive\na.png 1 1 1\n"), "none of the listed images is among the 3 images found"),
    ("celeba", {**CELEBA, "Eval/list_eval_partition.txt": "000001.png 3\n"}, ":1: expected an image name and 0, 1 or 2"),
    ("celeba", {**CELEBA, "again/000001.png": image(1)}, "'000001.png' matches 2 images; expected exactly one"),
    ("celeba", {"a.png": image(1)}, "has no file list_attr_celeba.txt"),
    ("chest-xray", {"Data_Entry_2017.csv": HEAD + "a.png,,M\nb.png,x,F\n", "a.png": image(1), "b.png": image(2)}, "'a.png': its label is empty"),
    ("chest-xray", {"Data_Entry_2017.csv": HEAD + "a.png,x\n", "a.png": image(1)}, ":2: 2 cells; expected 3"),
    ("chest-xray", {"Data_Entry_2017.csv": HEAD + "a.png,x,M\na.png,y,F\n", "a.png": image(1)}, "'a.png' is listed twice"),
    ("chest-xray", {"Data_Entry_2017.csv": HEAD + "a.png,x,M\nb.png,x,F\n", "a.png": image(1), "b.png": image(2)}, "all images have the label 'x'"),
    ("chest-xray", {"Data_Entry_2017.csv": HEAD + "a.png,x,M\nb.png,y,M\n", "a.png": image(1), "b.png": image(2)}, "all images have the attribute 'M'"),
    ("chest-xray", {"Data_Entry_2017.csv": b"\xff\n"}, "is not UTF-8 text"),
    *(("places", {"l.json": text, "a.png": image(1)}, "expected a list") for text in ("{}", "[1]", '[["a.png","x"]]', '[[1,"x","y"]]', '[["a.png",1.5,2]]')),
    ("places", {"l.json": "[", "a.png": image(1)}, "l.json: Expecting value"),
    ("places", {"a.png": image(1)}, "has 0 files *.json; expected one"),
    ("utkface", {"cat.jpg": image(1)}, "has no images age_gender_race_time.jpg"),
    ("idc", {**IDC, "1/1/1_idx5_x51_y1_class0.png": image(1, 50, 50)}, "is named class 0 but is in folder 1"),
    ("idc", {**IDC, "1/1/cat.png": image(1)}, "is not the file name of a patch; expected PATIENT_idx5_xX_yY_class0.png or _class1.png"),
    ("idc", {"1_idx5_x51_y1_class0.png": image(1, 49, 50)}, "none of 1 images has 50x50 pixels"),
    ("svhn", {"train_32x32.mat": digits(2, 0, [1, 2])}, "has no file test_32x32.mat"),
    *(("svhn", {**SVHN, "train_32x32.mat": content}, text) for content, text in (
        (digits(2, 0, [1, 11]), "label 11 of image 1; expected a digit, 1 to 9, or 10 for 0"),
        (digits(2, 0, [1, 1.5]), "label 1.5 of image 1"),
        (digits(2, 0, [1, 2, 3]), "3 labels for 2 images"),
        (digits(2, 0, [1, 2])[:-8], "is cut: an element states"),
        (digits(2, 0, [1, 2])[:132], "is cut: 4 bytes are left"),
        (digits(2, 0, [1, 2], True)[:-1] + b"?", "packed data is cut or damaged"),
        (b"\1\0MI".rjust(128), "is not a MATLAB file of version 5, little-endian"),
        (mat({"X": (9, 2, np.zeros((4, 2, 3, 2), np.uint8))}), "has no array 'y'"),
        (mat({"X": (6, 9, np.zeros((4, 2, 3, 1))), "y": (6, 9, np.ones((1, 1)))}), "array 'X' is not of (height, width, 3, images) bytes"),
        (mat({"X": (9, 2, np.zeros((4, 2, 3, 2), np.uint8)), "y": (6, 4, np.ones((2, 1), "u1"))}), "has 2 bytes of values for an array of shape (2, 1)"))),
    ("purchase", {"dataset_purchase": ""}, "dataset_purchase: holds no line of bits"),
    ("purchase", {"dataset_purchase": "0,1\n"}, ":1: expected a class, a whole number from 1 to 10000"),
    *(("purchase", {"dataset_purchase": f"1,0,1\n2,{bits}\n"}, ":2: expected 2 bits") for bits in ("0", "0,2", "0,1,1", "0;1", "0, 1", "")),
    ("texas", {"feats": "0,1\n1,1\n", "labels": "1\n"}, "contains 1 classes but feats has 2 lines; expected one class per line"),
    ("texas", {"feats": "0,1\n", "labels": "x\n"}, "labels:1: expected a class"),
    ("texas", {"feats": "0,1\n"}, "has no file labels"),
]


@pytest.mark.parametrize(("name", "files", "text"), REFUSED)
def test_bad_files_are_refused(tmp_path, name, files, text):
    put(tmp_path / "in", files)
    with pytest.raises(sotto.errors.InvalidArgument) as e:
        convert(name, tmp_path / "in", tmp_path / "out")
    assert text in str(e.value)
    assert os.listdir(tmp_path) == ["in"]


@pytest.mark.parametrize(("arguments", "code", "text"), [
    (["celeba", "in", "-o", "out", "--label", "Tall"], 65, "has no column 'Tall'"),
    (["utkface", "in", "-o", "out", "--attribute", "height"], 65, "has no 'height'; expected gender, race or age"),
    (["idc", "in", "-o", "out", "--label", "x"], 64, "label and attribute cannot be chosen"),
    (["celeba", "none", "-o", "out"], 66, "none: no such file or folder"),
    (["celeba", "in", "-o", "in"], 73, "in: exists already"),
    (["celeba", "in", "-o", "nowhere/out"], 74, "nowhere"),
    (["purchase", "cut.zip", "-o", "out"], 65, "has no file dataset_purchase"),
    (["celeba", "cut.tar.gz", "-o", "out"], 65, "cut.tar.gz: the archive cannot be read: "),
    (["cifar", "in", "-o", "out"], 64, "invalid choice: 'cifar'"), (["celeba"], 64, "required")])
def test_the_command_says_what_is_wrong_in_one_line(tmp_path, arguments, code, text):
    put(tmp_path / "in", {**CELEBA, **UTKFACE})
    put(tmp_path, {"cut.zip": b"PK\3\4cut", "cut.tar.gz": b"\x1f\x8bcut"})
    before = sorted(os.listdir(tmp_path))
    done = subprocess.run([sys.executable, "-m", "sotto.datasets", *arguments], capture_output=True, text=True, check=False, cwd=tmp_path)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("hint: ")]
    assert done.returncode == code and len(lines) == 1 and lines[0].startswith("sotto.datasets: error: ") and text in lines[0], done.stderr
    assert sorted(os.listdir(tmp_path)) == before


def test_a_damaged_archive_leaves_nothing(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as z:
        for name, content in IDC.items():
            z.writestr(name, content)
    data = bytearray((tmp_path / "a.zip").read_bytes())
    data[200] ^= 1  # in a stored image
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(sotto.errors.InvalidArgument, match="the archive cannot be read"):
        convert("idc", tmp_path / "a.zip", tmp_path / "out")
    assert os.listdir(tmp_path) == ["a.zip"]


def test_help_lists_the_sets():
    done = subprocess.run([sys.executable, "-m", "sotto.datasets", "--help"], capture_output=True, text=True, check=True)
    assert all(f"\n  {name} " in done.stdout for name in SETS)
