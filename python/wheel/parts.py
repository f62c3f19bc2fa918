"""What the wheel holds beside sotto's own code: names, licences, and where their texts come from."""
import pathlib
import typing


class Part(typing.NamedTuple):
    name: str  # its licence text is dist-info/licenses/NAME.txt
    licence: str  # SPDX expression
    package: str  # Debian package with its copyright file; empty: it was built by wheel/libraries


LIBRARIES = {  # by the name of the library
    "libdnnl": Part("oneDNN", "Apache-2.0 AND BSD-3-Clause AND BSL-1.0", ""),
    "libflint": Part("FLINT", "LGPL-3.0-or-later AND BSD-2-Clause", ""),
    "libgmp": Part("GMP", "LGPL-3.0-or-later OR GPL-2.0-or-later", "libgmp10"),
    "libgomp": Part("libgomp", "GPL-3.0-or-later WITH GCC-exception-3.1", "libgomp1"),
    "libjansson": Part("jansson", "MIT", "libjansson4"),
    "libmpfr": Part("MPFR", "LGPL-3.0-or-later", "libmpfr6"),
    "libpng16": Part("libpng", "libpng-2.0", "libpng16-16"),
    "libsodium": Part("libsodium", "ISC AND BSD-2-Clause AND CC0-1.0 AND MIT", "libsodium23"),
    "libturbojpeg": Part("libjpeg-turbo", "IJG AND BSD-3-Clause AND Zlib", "libturbojpeg0"),
    "libyaml-0": Part("libyaml", "MIT", "libyaml-0-2"),
}
INSIDE = [  # compiled into libsotto
    Part("Chart.js", "MIT", "libjs-chart.js"),
    Part("stb_image_resize", "MIT OR Unlicense", "libstb-dev"),
]
# Licences that let nobody link them into one file with ours: they stay libraries of their own, which a user can replace.
REPLACEABLE = ["libflint", "libgmp", "libgomp", "libmpfr"]
# GPL without an exception (gf2x, and NTL, which brings it), or nothing that sotto needs.
FORBIDDEN = "gf2x|ntl|OpenCL|krb5|ldap|icu"
# What every Linux with a Python has.
SYSTEM = ["ld-linux-x86-64", "libc", "libdl", "libgcc_s", "libm", "libpthread", "librt", "libstdc++", "libz"]
LARGEST = 25_000_000
# Python of modules, in sotto/lab of the package.
LAB = sorted(file.name for file in pathlib.Path(__file__).parents[2].glob("src/modules/*/python/*.py"))
