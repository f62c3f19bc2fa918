#!/usr/bin/env bats
# Arrays as they come: every dtype, byte order and layout, .npz, CSV and pipes; labels from 1; images.

setup_file() {
  cd "$BATS_FILE_TMPDIR" || return 1
  export XDG_DATA_HOME="$BATS_FILE_TMPDIR/data"
  "$SOTTO" data split synthetic-blobs-d8-k4-n900 --parts member=100,nonmember=100,attacker=600 -o b > /dev/null
  python3 - <<'PY'
import struct, zlib, zipfile

def read(path):
    b = open(path, "rb").read()
    n = struct.unpack("<H", b[8:10])[0]
    h = eval(b[10:10 + n])
    kind = {"<f4": "f", "<i8": "q"}[h["descr"]]
    return h["shape"], struct.unpack("<%d%s" % ((len(b) - 10 - n) // struct.calcsize(kind), kind), b[10 + n:])

def npy(descr, code, shape, values, fortran=False):
    h = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape)
    h += " " * (63 - (10 + len(h)) % 64) + "\n"
    order = ">" if descr[0] == ">" else "<"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(h)) + h.encode() + struct.pack(order + "%d%s" % (len(values), code), *values)

def save(name, *a, **k):
    open(name, "wb").write(npy(*a, **k))

# Features that every integer type holds: whole numbers from 0 to 127.
shape, x = read("b/member-features.npy")
_, y = read("b/member-labels.npy")
lo, hi = min(x), max(x)
w = [int((v - lo) / (hi - lo) * 127) for v in x]
n, d = shape
for t, c in dict(i1="b", i2="h", i4="i", i8="q", u1="B", u2="H", u4="I", u8="Q", f2="e", f4="f", f8="d").items():
    save("x-%s.npy" % t, ("|" if t[1] == "1" else "<") + t, c, shape, w)
    if t[1] != "1":
        save("x-be-%s.npy" % t, ">" + t, c, shape, w)
save("x-fortran.npy", "<f4", "f", shape, [w[i * d + k] for k in range(d) for i in range(n)], fortran=True)
for t, c in dict(i1="b", i2="h", i4="i", i8="q", u1="B", u2="H", u4="I", u8="Q").items():
    save("y-%s.npy" % t, ("|" if t[1] == "1" else "<") + t, c, (n,), y)
save("y-column.npy", "<u2", "H", (n, 1), y)
save("y-from-1.npy", "<i8", "q", (n,), [v + 1 for v in y])
save("y-bool.npy", "|b1", "B", (n,), [v % 2 for v in y])
save("y-01.npy", "<i8", "q", (n,), [v % 2 for v in y])
save("x-large.npy", "<i4", "i", shape, [1 << 24 | 1] + w[1:])
save("y-large.npy", "<u8", "Q", (n,), [2**63] + list(y[1:]))
save("wide.npy", "<i8", "q", (3,), [1, 2, 2**53 + 1])
save("counts.npy", "<i8", "q", (3,), [1, 2, 2**53])
open("x.csv", "w").write("".join(",".join(map(str, w[i * d:(i + 1) * d])) + "\n" for i in range(n)))
open("x-head.csv", "w").write(",".join("c%d" % k for k in range(d)) + "\n" + open("x.csv").read())
open("y.csv", "w").write("label\n" + "".join("%d\n" % v for v in y))
open("bad.csv", "w").write(open("x.csv").read().replace("\n", "\n", 1) + ",".join(["oops"] * d) + "\n")
open("wide.csv", "w").write("1\n2\n9007199254740993\n")
for name, how in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
    with zipfile.ZipFile(name + ".npz", "w", how) as z:
        z.write("x-i4.npy", "x.npy")
        with z.open("y.npy", "w", force_zip64=True) as f:
            f.write(npy("<i8", "q", (n,), y))
with zipfile.ZipFile("floats.npz", "w", zipfile.ZIP_DEFLATED) as z:
    z.write("x-f8.npy", "x.npy")
with zipfile.ZipFile("alone.npz", "w", zipfile.ZIP_DEFLATED) as z:
    z.write("x-i4.npy", "x.npy")
broken = bytearray(open("deflated.npz", "rb").read())
broken[200] ^= 255
open("broken.npz", "wb").write(broken)
# Images (n, 1, 4, 2) and their rows, the same channels last, and (n, 4, 2)
for part in ("member", "nonmember", "attacker"):
    (m, _), v = read("b/%s-features.npy" % part)
    save("%s-4.npy" % part, "<f4", "f", (m, 1, 4, 2), v)
    save("%s-3.npy" % part, "<f4", "f", (m, 4, 2), v)
save("member-last.npy", "<f4", "f", (n, 4, 2, 1), x)
PY
}
setup() { cd "$BATS_FILE_TMPDIR" || exit 1; }
head_of() { "$SOTTO" head --quiet --epochs 1 "$@" > /dev/null; }
refused() { # CODE TEXT command ...
  run "${@:3}"
  echo "$status: $output"
  [ "$status" -eq "$1" ]
  [[ "$output" == *"$2"* ]]
}

@test "features and labels of every type, byte order and layout give the same head" {
  head_of --features x-f4.npy --labels y-i8.npy -o f4.safetensors
  for x in x-*.npy; do
    [ "$x" = x-large.npy ] && continue
    head_of --features "$x" --labels y-i8.npy -o h.safetensors
    cmp f4.safetensors h.safetensors || { echo "$x"; return 1; }
  done
  for y in y-[iu]?.npy y-column.npy; do
    head_of --features x-f4.npy --labels "$y" -o h.safetensors
    cmp f4.safetensors h.safetensors || { echo "$y"; return 1; }
  done
  head_of --features x-f4.npy --labels y-bool.npy -o h.safetensors
  head_of --features x-f4.npy --labels y-01.npy -o other.safetensors
  cmp h.safetensors other.safetensors
}

@test ".npz, CSV and pipes give the same head" {
  head_of --features x-f4.npy --labels y-i8.npy -o f4.safetensors
  for npz in stored deflated; do
    head_of --features $npz.npz:x --labels $npz.npz:y -o h.safetensors
    cmp f4.safetensors h.safetensors
  done
  for x in alone.npz x.csv x-head.csv; do
    head_of --features $x --labels y.csv -o h.safetensors
    cmp f4.safetensors h.safetensors
    head_of --features - --labels y.csv -o h.safetensors < $x
    cmp f4.safetensors h.safetensors
    head_of --features <(cat $x) --labels <(cat y.csv) -o h.safetensors
    cmp f4.safetensors h.safetensors
  done
  "$SOTTO" predict --head f4.safetensors --features x.csv --labels stored.npz:y -o p.npy > /dev/null
  "$SOTTO" predict --head f4.safetensors --features x-be-i2.npy -o q.npy > /dev/null
  cmp p.npy q.npy
  "$SOTTO" sensitivity --features x.csv --labels y.csv --pairs 2 --epochs 1 -o s.json > /dev/null
}

@test "numbers that do not fit, and what is damaged, are refused by name" {
  refused 65 "x-large.npy: value 0 is 16777217; f4 holds whole numbers up to 2^24 exactly" \
    "$SOTTO" head --features x-large.npy --labels y-i8.npy -o no.safetensors
  refused 65 "y-large.npy: " "$SOTTO" head --features x-f4.npy --labels y-large.npy -o no.safetensors
  refused 65 "stored.npz: contains 2 arrays (x, y); choose one by stored.npz:NAME" \
    "$SOTTO" head --features stored.npz --labels y-i8.npy -o no.safetensors
  refused 65 "stored.npz: has no array 'z'; it contains x, y" \
    "$SOTTO" head --features stored.npz:z --labels y-i8.npy -o no.safetensors
  refused 65 "broken.npz: " "$SOTTO" head --features broken.npz:x --labels y-i8.npy -o no.safetensors
  refused 65 "bad.csv:101: " "$SOTTO" head --features bad.csv --labels y-i8.npy -o no.safetensors
  refused 65 "wide.csv:3: cell 1 is 9007199254740993; expected whole numbers up to 2^53" \
    "$SOTTO" audit --member-losses wide.csv --nonmember-losses y.csv
  refused 65 "wide.npy: value 2 is " "$SOTTO" audit --member-losses wide.npy --nonmember-losses y.csv
  [ ! -e no.safetensors ]
}

@test "a file of another kind than its ending says is named" {
  cp stored.npz two.npy
  cp alone.npz one.npy
  cp x-f4.npy is.npz
  cp x-f4.npy is.csv
  cp x.csv is.npy
  cp x-f4.npy is.safetensors
  printf '\x80\4\x95\0\0\0\0\0\0\0\0\0' | tee pickle.npy > pickle.csv
  "$SOTTO" head --features x-f4.npy --labels y-i8.npy -o h.safetensors > /dev/null
  cp h.safetensors head.npy
  cp h.safetensors head.csv
  said() { refused 65 "$1" "$SOTTO" inspect "${1%%:*}"; }
  said "one.npy: is a ZIP archive (an .npz file?); expected a .npy file"
  said "is.npz: is a .npy file; expected a .npz file (a ZIP archive)"
  said "is.npy: is text; expected a .npy file"
  said "is.csv: is a .npy file; expected a table of text"
  said "is.safetensors: is a .npy file; expected a .safetensors file"
  said "pickle.npy: is a pickle, which could run code; expected a .npy file"
  said "head.npy: is a .safetensors file; expected a .npy file"
  for kind in "is.npy: is text" "is.npz: is a .npy file" "pickle.npy: is a pickle" "pickle.csv: is a pickle" \
    "two.npy: is a ZIP archive of 2 arrays (x, y); name it .npz and choose one by FILE.npz:NAME"; do
    refused 65 "$kind" "$SOTTO" head --features "${kind%%:*}" --labels y-i8.npy -o no.safetensors
  done
  for kind in "is.csv: is a .npy file" "head.csv: is a .safetensors file" "pickle.csv: is a pickle"; do
    refused 65 "$kind" "$SOTTO" data import "${kind%%:*}" --name kind
  done
  [ ! -e no.safetensors ]
  head_of --features one.npy --labels y-i8.npy -o one.safetensors # the bytes say what it is, where one array is wanted
  head_of --features x-f4.npy --labels y-i8.npy -o f4.safetensors
  cmp one.safetensors f4.safetensors
}

@test "protect reads them too; whole numbers keep their exactness" {
  protect() { "$SOTTO" protect --vector "$1" --mechanism discrete-laplace --scale 2 --l1 1 --dataset-id a --ledger l.jsonl \
    -o out.npy --insecure-noise-seed 7 "${@:2}" > /dev/null; }
  protect counts.npy
  refused 65 "expected whole numbers up to 2^53" "$SOTTO" protect --vector wide.npy --mechanism discrete-laplace --scale 2 \
    --l1 1 --dataset-id a --ledger l.jsonl -o no.npy
  [ ! -e no.npy ]
  [ "$(grep -c '"event":"release"' l.jsonl)" -eq 1 ] # nothing was charged
  "$SOTTO" protect --vector y.csv --mechanism laplace --scale 2 --l1 1 --dataset-id a --ledger l.jsonl -o csv.npy > /dev/null
  "$SOTTO" protect --vector floats.npz:x --mechanism laplace --scale 2 --l1 1 --dataset-id a --ledger l.jsonl -o npz.npy > /dev/null
  "$SOTTO" verify npz.npy.certificate.json > /dev/null
  "$SOTTO" protect --records x.csv --clip 1 --scale 2 --dataset-id c --ledger c.jsonl -o r.npy --labels y-column.npy \
    --label-epsilon 1 --classes 4 > /dev/null
  refused 64 "" "$SOTTO" protect --vector y.csv --mechanism laplace --scale 2 --l1 1 --dataset-id a -o csv.safetensors
}

@test "labels of any kind by randomised response: from 1, of a table, and none that tells of a record" {
  respond() { "$SOTTO" protect --vector "$1" --mechanism randomised-response --epsilon 1 --classes 4 --l1 1 --dataset-id rr --ledger rr.jsonl \
    --insecure-noise-seed 7 -o "$2" "${@:3}" > said.txt; }
  respond y-i8.npy 0.npy
  respond y-from-1.npy 1.npy --labels-from 1
  cmp 0.npy 1.npy
  for y in y.csv <(cat y.csv) stored.npz:y y-column.npy; do
    respond "$y" o.npy
    cmp <(tail -c 800 0.npy) <(tail -c 800 o.npy)
  done
  sed '7s/.*/9/; 8s/.*/-3/; 9s/.*/0.5/' y.csv > odd.csv # no classes: they count as class 0
  sed '7,9s/.*/0/' y.csv > zeros.csv
  respond zeros.csv o.npy 2> err.txt
  cp o.npy zeros.npy
  cp said.txt zeros.txt
  respond odd.csv o.npy 2> odd.err.txt
  cmp zeros.npy o.npy
  cmp zeros.txt said.txt
  cmp err.txt odd.err.txt
  refused 64 "give --classes K, or omit it" "$SOTTO" protect --vector y.csv --labels-from 1 --mechanism laplace --scale 1 --l1 1 \
    --dataset-id rr --ledger rr.jsonl -o no.npy
  run "$SOTTO" protect --vector y.csv --labels-from 2 --mechanism randomised-response --epsilon 1 --classes 4 --l1 1 \
    --dataset-id rr --ledger rr.jsonl -o no.npy
  [ "$status" -ne 0 ]
  refused 65 "expected integer labels" "$SOTTO" protect --vector x-f4.npy --mechanism randomised-response --epsilon 1 --classes 4 --l1 1 \
    --dataset-id rr --ledger rr.jsonl -o no.npy
  most() { "$SOTTO" protect --table "$1" --statistic most-frequent --mechanism propose-test-release --epsilon 1 --delta 1e-3 --classes 5 \
    --dataset-id mf --ledger mf.jsonl --insecure-noise-seed 7 -o m.npy "${@:2}" > /dev/null; }
  printf '%0.s1\n' {1..90} > ones.csv
  most ones.csv
  [ "$(tail -c 8 m.npy | od -An -t d8 | tr -d ' ')" = 1 ]
  most ones.csv --labels-from 1
  [ "$(tail -c 8 m.npy | od -An -t d8 | tr -d ' ')" = 0 ]
  [ ! -e no.npy ]
}

@test "X:Y, two arrays of any kind, wherever a data set is named" {
  trained() { "$SOTTO" train --data "$1" "${@:2}" --model mlp --hidden 8 --epochs 1 --dtype f32 --backend dnnl -o pair.safetensors --json |
    tr ',' '\n' | grep weights_sha256; }
  wanted=$(trained x-f4.npy:y-i8.npy)
  for pair in x.csv:y.csv x-head.csv:y-i8.npy stored.npz:x:deflated.npz:y alone.npz:y.csv x-i2.npy:stored.npz:y "$PWD/x.csv:$PWD/y.csv"; do
    [ "$(trained "$pair")" = "$wanted" ] || { echo "$pair"; return 1; }
  done
  [ "$(trained x.csv:- < y.csv)" = "$wanted" ]
  [ "$(trained <(cat x.csv):<(cat y.csv))" = "$wanted" ]
  awk 'NR == 1 { print; next } { print $1 + 1 }' y.csv > y-from-1.csv
  [ "$(trained x.csv:y-from-1.csv --labels-from 1)" = "$wanted" ]
  "$SOTTO" data import x.csv:y.csv --name pair > /dev/null
  "$SOTTO" data info pair | grep -q "records    100 "
  "$SOTTO" data split x.csv:y.csv --parts a=40 -o pair --quiet > /dev/null
  [ -s pair/a-labels.npy ]
  refused 66 "none.csv: No such file" "$SOTTO" train --data x.csv:none.csv --model mlp -o no.safetensors
  refused 65 "stored.npz: contains 2 arrays" "$SOTTO" train --data stored.npz:y.csv --model mlp -o no.safetensors
  refused 65 "expected shape (100)" "$SOTTO" train --data y.csv:x.csv --model mlp -o no.safetensors
  LC_ALL=C awk 'NR == 3 { print 0.5; next } { print }' y.csv > fractions.csv
  refused 65 "with fractions; expected whole numbers" "$SOTTO" train --data x.csv:fractions.csv --model mlp -o no.safetensors
  [ ! -e no.safetensors ]
}

@test "row numbers of a table or a pipe" {
  printf '%s\n' 5 1 40 7 12 30 2 66 > rows.csv
  head_of --features x.csv --labels y.csv --classes 4 --indices rows.csv -o a.safetensors
  head_of --features x.csv --labels y.csv --classes 4 --indices <(cat rows.csv) -o b.safetensors
  cmp a.safetensors b.safetensors
  "$SOTTO" embed --data synthetic-images-n80 --encoder scattering --indices rows.csv -o r.npy --quiet > /dev/null
  "$SOTTO" embed --data synthetic-images-n80 --encoder scattering --indices <(cat rows.csv) -o s.npy --quiet > /dev/null
  cmp r.npy s.npy
  refused 65 "contains fractions; row numbers must be integers" "$SOTTO" embed --data synthetic-images-n80 --encoder scattering --indices <(echo 1.5) -o no.npy
}

@test "labels from 1 are refused, and taken where they are stated" {
  head_of --features x-f4.npy --labels y-i8.npy -o f4.safetensors
  refused 65 "y-from-1.npy: labels run from 1 to 4; expected labels from 0: give --labels-from 1" \
    "$SOTTO" head --features x-f4.npy --labels y-from-1.npy -o no.safetensors
  head_of --features x-f4.npy --labels y-from-1.npy --labels-from 1 -o h.safetensors
  cmp f4.safetensors h.safetensors
  refused 65 "row " "$SOTTO" head --features x-f4.npy --labels y-i8.npy --labels-from 1 -o no.safetensors
  refused 64 "expected 0 or 1" "$SOTTO" head --features x-f4.npy --labels y-i8.npy --labels-from 2 -o no.safetensors
  refused 65 "give --labels-from 1" "$SOTTO" predict --head f4.safetensors --features x-f4.npy --labels y-from-1.npy
  "$SOTTO" predict --head f4.safetensors --features x-f4.npy --labels y-i8.npy > a.txt
  "$SOTTO" predict --head f4.safetensors --features x-f4.npy --labels y-from-1.npy --labels-from 1 > b.txt
  cmp a.txt b.txt
  refused 65 "give --labels-from 1" "$SOTTO" train --data x-f4.npy:y-from-1.npy --model mlp --hidden 8 --epochs 1 -o no.safetensors
  trained() { "$SOTTO" train --data x-f4.npy:"$1" --labels-from "$2" --model mlp --hidden 8 --epochs 1 --dtype f32 --backend dnnl \
    -o "t$2.safetensors" --json | tr ',' '\n' | grep weights_sha256 > "t$2.txt"; }
  trained y-i8.npy 0
  trained y-from-1.npy 1
  cmp t0.txt t1.txt
  "$SOTTO" data import x-f4.npy:y-from-1.npy --labels-from 1 --name ones > /dev/null
  "$SOTTO" data info ones --json | grep -q '"classes": *4'
  [ ! -e no.safetensors ]
}

@test "labels from 1 in audit, attack and protect" {
  "$SOTTO" head --features b/member-features.npy --labels b/member-labels.npy --epochs 5 -o t.safetensors > /dev/null
  for part in member nonmember; do
    "$SOTTO" predict --head t.safetensors --features b/$part-features.npy --logits -o $part-logits.npy > /dev/null
  done
  audit() { "$SOTTO" audit --member-logits member-logits.npy --nonmember-logits nonmember-logits.npy --member-labels "$1" \
    --nonmember-labels b/nonmember-labels.npy "${@:2}"; }
  refused 65 "give --labels-from 1" audit y-from-1.npy
  refused 65 "b/nonmember-labels.npy: row " audit y-from-1.npy --labels-from 1
  attack() { "$SOTTO" attack ml-leaks-1 --target t.safetensors --member-features b/member-features.npy --member-labels "$1" \
    --nonmember-features b/nonmember-features.npy --nonmember-labels "$1" --attacker-features b/attacker-features.npy \
    --attacker-labels b/attacker-labels.npy "${@:2}"; }
  refused 65 "give --labels-from 1" attack y-from-1.npy
  protect() { "$SOTTO" protect --records x-f4.npy --clip 1 --scale 2 --dataset-id "c$2" --ledger "c$2.jsonl" -o "r$2.npy" --labels "$1" \
    --labels-from "$2" --label-epsilon 30 --classes 4 --insecure-noise-seed 7 > /dev/null; }
  protect y-i8.npy 0
  protect y-from-1.npy 1
  cmp r0.labels.npy r1.labels.npy
}

@test "a private trainer counts a label outside of its classes as nothing and says nothing" {
  private() { "$SOTTO" head --features x-f4.npy --labels "$1" "${@:2}" --classes 4 --trainer dp-sgd --batch 20 --epochs 1 \
    --noise-multiplier 12 --dataset-id p$BATS_TEST_NUMBER$RANDOM --ledger p.jsonl --insecure-noise-seed 7 -o p.safetensors; }
  run private y-i8.npy
  [ "$status" -eq 0 ]
  run private y-from-1.npy
  [ "$status" -eq 0 ]
  [[ "$output" != *"run from 1"* ]]
  run private y-from-1.npy --labels-from 1
  [ "$status" -eq 0 ]
}

@test "records that are images state the shape for the attack" {
  "$SOTTO" head --features b/member-features.npy --labels b/member-labels.npy --epochs 5 -o t.safetensors > /dev/null
  attack() { "$SOTTO" attack ml-leaks-1 --target t.safetensors --member-features "$1" --member-labels b/member-labels.npy \
    --nonmember-features "$2" --nonmember-labels b/nonmember-labels.npy --attacker-features b/attacker-features.npy \
    --attacker-labels b/attacker-labels.npy "${@:3}"; }
  attack b/member-features.npy b/nonmember-features.npy > rows.txt
  attack member-4.npy nonmember-4.npy > images.txt
  cmp rows.txt images.txt
  attack member-3.npy nonmember-4.npy > images.txt
  cmp rows.txt images.txt
  refused 65 "with the channels last; expected (N, C, H, W)" attack member-last.npy nonmember-4.npy
  refused 64 "--image states another shape" attack member-4.npy nonmember-4.npy --image 1,2,4
}

@test "embed --standardise and --join read numbers of any type" {
  embed() { "$SOTTO" embed --data synthetic-images-n20 --encoder scattering --quiet "$@" > /dev/null; }
  embed -o e.npy
  python3 - <<'PY'
import struct
b = open("e.npy", "rb").read()
n = struct.unpack("<H", b[8:10])[0]
shape = eval(b[10:10 + n])["shape"]
x = struct.unpack("<%df" % (shape[0] * shape[1]), b[10 + n:])
open("e.csv", "w").write("".join(",".join(map(repr, x[i * shape[1]:(i + 1) * shape[1]])) + "\n" for i in range(shape[0])))
PY
  for option in --standardise --join; do
    embed $option e.npy -o npy.npy
    embed $option e.csv -o csv.npy
    cmp npy.npy csv.npy
  done
}

@test "learning rates and batches out of range are refused" {
  refused 65 "lr must be at least 0 and at most 1000 (got 1e+30)" "$SOTTO" head --features x-f4.npy --labels y-i8.npy --lr 1e30 -o no.safetensors
  refused 64 "--batch: 101 is out of range; expected at most 100, the number of records" \
    "$SOTTO" head --features x-f4.npy --labels y-i8.npy --batch 101 -o no.safetensors
  refused 65 "lr must be above 0 and at most 1000 (got 1e+30)" "$SOTTO" train --data x-f4.npy:y-i8.npy --model mlp --hidden 8 --lr 1e30 -o no.safetensors
  refused 65 "batch 101 is larger than the 100 records" \
    "$SOTTO" train --data x-f4.npy:y-i8.npy --model mlp --hidden 8 --batch 101 --dtype f32 --backend dnnl -o no.safetensors
  [ ! -e no.safetensors ]
}
