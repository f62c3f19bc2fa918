"""check.py on wheels that were made up: a good one, and one for each thing that must not be."""
import json
import zipfile

import pytest

from check import problems
from parts import INSIDE, LAB, LIBRARIES

NAME = "sotto_privacy-0-cp310-abi3-manylinux_2_36_x86_64.whl"
PARTS = [*LIBRARIES.values(), *INSIDE]


def good():
    terms = [t for p in PARTS for t in p.licence.split(" AND ")]
    texts = ["sotto.txt", "SOURCES.txt", *(f"{p.name}.txt" for p in PARTS)]
    files = {f"sotto_privacy.libs/{name}-0123abcd.so.1": "" for name in LIBRARIES}
    files.update({f"sotto_privacy-0.dist-info/licenses/{t}": "x" * 501 for t in texts})
    files.update({f"sotto/lab/{name}": "" for name in LAB})
    files["sotto/bin/sotto"] = files["sotto_privacy-0.dist-info/licenses/"] = ""
    files["sotto_privacy-0.dist-info/METADATA"] = "".join(f"License-File: {t}\n" for t in texts) + f"License-Expression: {' AND '.join(terms)}\n"
    files["sotto_privacy-0.dist-info/sboms/a.cdx.json"] = json.dumps({"components": [{"licenses": [1]}] * (1 + len(PARTS))})
    return files


def found(folder, files, name=NAME, mode=0o755):
    with zipfile.ZipFile(folder / name, "w") as wheel:
        for path, text in files.items():
            info = zipfile.ZipInfo(path)
            info.external_attr = mode << 16
            wheel.writestr(info, text)
    return list(problems(str(folder / name)))


def test_nothing_is_found_in_a_good_wheel(tmp_path):
    assert found(tmp_path, good()) == []


@pytest.mark.parametrize("library", ["libgf2x-0123abcd.so.3", "libntl-0123abcd.so.44", "libOpenCL-0123abcd.so.1.0.0", "libicudata-0123abcd.so.72",
                                     "libgssapi_krb5-0123abcd.so.2", "libldap-2-0123abcd.so.5"])
@pytest.mark.parametrize("folder", ["sotto_privacy.libs", "sotto"])
def test_libraries_that_must_not_be_there(tmp_path, folder, library):
    assert any("must not be in it" in p for p in found(tmp_path, {**good(), f"{folder}/{library}": ""}))


def test_a_library_without_licence(tmp_path):
    assert any("no licence is known" in p for p in found(tmp_path, {**good(), "sotto_privacy.libs/libnew-0123abcd.so.1": ""}))


@pytest.mark.parametrize("text", ["sotto", "SOURCES", *(p.name for p in PARTS)])
def test_a_missing_licence_text(tmp_path, text):
    files = good()
    del files[f"sotto_privacy-0.dist-info/licenses/{text}.txt"]
    assert any(f"{text}.txt is missing" in p for p in found(tmp_path, files))


@pytest.mark.parametrize("library", ["libflint", "libgmp", "libmpfr", "libgomp"])
def test_what_a_user_must_be_able_to_replace(tmp_path, library):
    files = good()
    del files[f"sotto_privacy.libs/{library}-0123abcd.so.1"]
    assert any("no library of its own" in p for p in found(tmp_path, files))


def test_metadata(tmp_path):
    meta = "sotto_privacy-0.dist-info/METADATA"
    assert any("lacks LGPL" in p for p in found(tmp_path, {**good(), meta: good()[meta].replace("LGPL-3.0-or-later", "MIT")}))
    assert any("differ" in p for p in found(tmp_path, {**good(), meta: good()[meta].replace("License-File: FLINT.txt\n", "")}))
    assert any("CycloneDX" in p for p in found(tmp_path, {**good(), "sotto_privacy-0.dist-info/sboms/a.cdx.json": '{"components": []}'}))


def test_size_name_and_program(tmp_path):
    assert any("at most 25 MB" in p for p in found(tmp_path, {**good(), "x": bytes(25_000_001)}))
    assert any("does not end" in p for p in found(tmp_path, good(), "sotto_privacy-0-cp311-cp311-linux_x86_64.whl"))
    assert any("executed" in p for p in found(tmp_path, good(), mode=0o644))


@pytest.mark.parametrize("name", LAB)
def test_a_module_that_is_missing(tmp_path, name):
    files = good()
    del files[f"sotto/lab/{name}"]
    assert found(tmp_path, files) == [f"sotto/lab/{name}, which is of a module, is missing"]
