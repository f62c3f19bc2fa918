#!/usr/bin/env bats
# sotto data: messages, exit codes, JSON. Real archives are read from $SOTTO_SHARED where they lie there, the largest by data_archives.bats.

bats_require_minimum_version 1.5.0
setup() {
  work=$(mktemp -d)
  export SOTTO_DATA_DIR=$work/data SOTTO_FASHION_MNIST=$work/none
  cd "$work"
}

teardown() { rm -rf "$work"; }

# run the program; output and error text in one variable
sotto() { run "$SOTTO" "$@"; }

@test "data list shows registered sets and how to get the missing ones" {
  sotto data list
  [ "$status" -eq 0 ]
  [[ $output == *"fashion-mnist"*"missing"*"dataset-fashion-mnist"* ]]
  [[ $output == *"synthetic-images"*"generated"* ]]
  [[ $output == *"Imported sets live in $work/data."* ]]
}

@test "data list --json prints one object" {
  sotto data list --json
  [ "$status" -eq 0 ]
  [[ $output == "{"*'"schema": "sotto.data-list/1"'*"}" ]]
}

@test "usage errors exit with 64" {
  sotto data
  [ "$status" -eq 64 ]
  sotto data frobnicate
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: data: action 'frobnicate' is unknown; expected list, info, import, schema, fetch, verify, loci, check or split" ]
  sotto data info
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: data info: expects NAME; see 'sotto data --help'" ]
  sotto data list extra
  [ "$status" -eq 64 ]
  sotto data import x.csv
  [ "$status" -eq 64 ]
  [[ $output == *"--name is missing"* ]]
  sotto data info synthetic-images --size 3x3
  [ "$status" -eq 64 ]
  [[ $output == *"--size is only an option of 'data import'"* ]]
  for size in 0x4 4 4x 4x4x4 -4x4 99999x1; do
    sotto data import x.csv --name x "--size=$size"
    [ "$status" -eq 64 ]
    [[ $output == *"is not a size; expected for example 32x32 (1 to 4096 each)"* ]]
  done
  sotto data import x.csv --name ../x
  [ "$status" -eq 64 ]
  [[ $output == *"data set name '../x': expected 1 to 63 of"* ]]
}

@test "an unknown set exits with 66 and a hint" {
  sotto data info cifar10
  [ "$status" -eq 66 ]
  [ "${lines[0]}" = "sotto: error: data set 'cifar10' not found" ]
  [[ ${lines[1]} == "hint: sotto data fetch cifar10, or: sotto data import PATH --name cifar10"* ]]
  sotto data info fashion-mnist --json
  [ "$status" -eq 66 ]
  [[ $output == '{"error": "data set '"'fashion-mnist'"' not found", "hint": "install the Debian package dataset-fashion-mnist'*'"exit_code": 66}' ]]
  sotto data import missing.tar --name x
  [ "$status" -eq 66 ]
  [ "$output" = "reading missing.tar
sotto: error: missing.tar: No such file or directory" ]
}

@test "a table is imported, described, verified; a changed byte is noticed" {
  printf '"1",0,1\n"2",1,1\n"1",1,0\n' > t.csv
  sotto data import t.csv --name t
  [ "$status" -eq 0 ]
  sotto data info t
  [ "$status" -eq 0 ]
  [[ $output == *"records    3 (3 training, 0 test)"*"features   2 columns"*"classes    0 1: 2"* ]]
  sotto data verify t
  [ "$status" -eq 0 ]
  [ "$output" = "t: ok" ]
  printf 'x' | dd of=data/t/features.npy bs=1 seek=140 conv=notrunc status=none
  sotto data verify t
  [ "$status" -eq 1 ]
  [[ $output == "sotto: error: t: contents have SHA-256 "*" but dataset.json states "* ]]
  sotto data import t.csv --name t
  [ "$status" -eq 73 ]
  [[ $output == *"data set 't' exists already in $work/data/t"*"hint: remove that folder, or choose another --name" ]]
}

@test "bad data exits with 65, names the file, and leaves nothing behind" {
  : > empty.csv
  sotto data import empty.csv --name x
  [ "$status" -eq 65 ]
  [[ $output == *"empty.csv"* ]]
  mkdir nothing
  sotto data import nothing --name x
  [ "$status" -eq 65 ]
  [[ $output == *"nothing: the folder holds no files" ]]
  mkdir -p pictures/cat
  echo "damaged JPEG: contains no image" > pictures/cat/1.jpg
  sotto data import pictures --name x
  [ "$status" -eq 65 ]
  [[ $output == *"pictures/cat/1.jpg: is neither JPEG, PNG nor binary PGM"* ]]
  mkdir idx
  printf '\0\0\10\3\0\0\352\140\0\0\0\34\0\0\0\34' > idx/train-images-idx3-ubyte
  printf '\0\0\10\1\0\0\352\140' > idx/train-labels-idx1-ubyte
  sotto data import idx --name x
  [ "$status" -eq 65 ]
  [[ $output == *"idx/train-images-idx3-ubyte: header states 60000x28x28, but the file has 0 images" ]]
  rm idx/train-labels-idx1-ubyte
  sotto data import idx --name x
  [ "$status" -eq 65 ]
  [[ $output == *"has no matching labels file" ]]
  printf 'a,b\n1\n' > ragged.csv
  sotto data import ragged.csv --name x
  [ "$status" -eq 65 ]
  [[ $output == *"ragged.csv:2"* ]]
  head -c 100 /dev/urandom > noise.bin
  sotto data import noise.bin --name x
  [ "$status" -eq 65 ]
  [ ! -e data/x ]
  [ -z "$(ls -A data 2>/dev/null)" ]
}

@test "an unreadable file exits with 66" {
  [ "$(id -u)" -ne 0 ] || skip "root may read everything"
  echo "1,2" > t.csv
  chmod 0 t.csv
  sotto data import t.csv --name x
  [ "$status" -eq 66 ]
}

@test "a pipe is not a data set" {
  mkfifo pipe
  sotto data import pipe --name x
  [ "$status" -eq 66 ]
  [[ $output == *"pipe: is not a regular file" ]]
}

@test "a path that leaves its archive is refused" {
  mkdir inner
  echo 1,0 > evil.csv
  (cd inner && tar cPf ../evil.tar ../evil.csv)
  sotto data import evil.tar --name x
  [ "$status" -eq 65 ]
  [[ $output == *"evil.tar: file name '../evil.csv' points outside the archive" ]]
}

@test "a label column that is not obvious must be given" {
  printf 'x,kind,y\n1,3,5\n2,4,6\n' > t.csv
  sotto data import t.csv --name t
  [ "$status" -eq 65 ]
  [[ $output == *"the label among 3 columns is unknown"*"hint: give --label first"* ]]
  sotto data import t.csv --name t --label kind
  [ "$status" -eq 0 ]
}

@test "errors of the library name options, and leave the braces in the name of a file" {
  printf 'a,b\n1,2\n3,4\n' > '{drop}.csv'
  run "$SOTTO" data import '{drop}.csv' --name t --quiet
  [ "$status" -eq 65 ]
  [[ $output == *"{drop}.csv: the label among 2 columns is unknown"*"hint: give --label first, --label last or --label COLUMN" ]]
}

@test "a killed import leaves no set behind" {
  mkdir many
  printf '1,0\n2,1\n%.0s' $(seq 1 200000) > many/big.csv
  "$SOTTO" data import many/big.csv --name big >/dev/null 2>&1 &
  sleep 0.05
  kill -9 $! 2>/dev/null || :
  wait $! 2>/dev/null || :
  [ ! -e data/big ] || "$SOTTO" data verify big # it may have been quicker than the signal
  rm -rf data/big
  sotto data import many/big.csv --name big
  [ "$status" -eq 0 ]
  [ "$(ls -A data)" = big ]
}

@test "Fashion-MNIST of the Debian package verifies" {
  unset SOTTO_FASHION_MNIST
  [ -e /usr/share/datasets/fashion-mnist ] || skip "the package dataset-fashion-mnist is not installed"
  sotto data verify fashion-mnist
  [ "$status" -eq 0 ]
  [ "$output" = "fashion-mnist: ok" ]
}

@test "the shared Location and Adult files import as they are" {
  [ -e "${SOTTO_SHARED-}/data/location.csv.xz" ] || skip "no shared data folder"
  sotto data import "$SOTTO_SHARED/data/location.csv.xz" --name location
  [ "$status" -eq 0 ]
  sotto data info location
  [[ $output == *"records    5010 (5010 training, 0 test)"*"features   446 columns"*"29 30: "* ]]
  sotto data import "$SOTTO_SHARED/data/adult.data.xz" --name adult
  [ "$status" -eq 0 ]
  sotto data info adult
  [[ $output == *"records    32561 "*"features   14 columns"*"classes    0 <=50K: 24720"*"1 >50K: 7841"* ]]
}

@test "images that are cut while they are read end the command with one text" {
  head -c 6144000 /dev/urandom > bytes
  { printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (2000, 3, 32, 32), }"; cat bytes; } > i.npy
  sotto data import i.npy --name cut --quiet
  [ "$status" -eq 0 ]
  images=$(find . -path '*/cut/images.npy')
  "$SOTTO" pretrain --data cut --epochs 1000 --batch 100 --metrics m.jsonl --quiet -o m.safetensors 2> err.txt &
  pid=$!
  while kill -0 $pid && [ ! -s m.jsonl ]; do sleep 0.05; done
  truncate -s 4096 "$images"
  code=0
  wait $pid || code=$?
  [ "$code" -eq 74 ]
  grep -q 'error: a data file was cut' err.txt
}

@test "without libarchive and libcurl plain files are read, and the rest says what is missing" {
  mkdir absent
  echo none | tee absent/libarchive.so.13 > absent/libcurl.so.4
  export LD_LIBRARY_PATH=$PWD/absent${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  printf '1,0,a\n0,1,b\n' > t.csv
  sotto data import t.csv --name plain --label last --quiet
  [ "$status" -eq 0 ]
  sotto data verify plain
  [ "$status" -eq 0 ]
  gzip -k t.csv
  sotto data import t.csv.gz --name packed --label last
  [ "$status" -eq 69 ]
  [[ $output == *"t.csv.gz: is an archive or a compressed file; expected libarchive.so.13"* ]]
  sotto data fetch cifar10
  [ "$status" -eq 69 ]
  [[ $output == *"there is no libcurl"* ]]
}

@test "data check tells the owner what would count as nothing, charges nothing, and counts as training does" {
  cd "$BATS_TEST_TMPDIR"
  export XDG_DATA_HOME=$PWD/home
  printf '1,2\n3,4\n5,nan\n7,8\n9,inf\n2,2\n' > x.csv
  printf '1\n2\n3\n3\n4\n2\n' > y.csv
  run -0 "$SOTTO" data check --features x.csv --labels y.csv --classes 3
  [ "${lines[0]}" = "3 of 6 records would count as nothing in private training" ] # rows 2 to 4: NaN, class 3, both
  [[ "${lines[1]}" == *": 2" ]]
  [[ "${lines[2]}" == *": 3 (labels run from 1 to 4)" ]]
  [[ "${lines[3]}" == *": 1" ]] # class 0
  [[ "${lines[4]}" == *"no release, and nothing is charged"* ]]
  run -0 "$SOTTO" data check --features x.csv --labels y.csv --classes 3 --labels-from 1 --json
  [[ "$output" == *'"nothing": 2, "not_finite": 2, "no_class": 1, "classes": 3, "empty_classes": 0'* ]] # row 4 is both
  printf '1\n2\n3\n' > short.csv
  printf '1,2\n3,4\n5,6\n' > three.csv
  run -0 "$SOTTO" data check --features three.csv --labels short.csv --classes 3
  [[ "${lines[5]}" == *"need --labels-from 1"* ]]
  run -64 "$SOTTO" data check --features x.csv --labels y.csv
  run -64 "$SOTTO" data list --classes 3
  run -64 "$SOTTO" data check synthetic-blobs-n60-k3 --features x.csv --labels y.csv --classes 3
  run -64 "$SOTTO" data check a b
  [ ! -e home ]
  printf 'age,kind\n1,a\n2,b\n3,a\n4,c\n' > table.csv
  "$SOTTO" data import table.csv --name table --label kind --quiet > /dev/null
  printf 'a\nb\nB\n' > names.txt
  run -0 "$SOTTO" data check table --classes names.txt
  [ "${lines[0]}" = "1 of 4 records would count as nothing in private training" ] # c is not in the list
  [[ "${lines[3]}" == *": 1" ]]                                                  # B
}

@test "an empty cell of a table with one column is a record: refused, and of private records one that counts as nothing" {
  cd "$BATS_TEST_TMPDIR"
  export XDG_DATA_HOME=$PWD/home
  printf '0\n\n1\n1\n' > y.csv
  printf '1,2\n3,4\n5,6\n7,8\n' > x.csv
  run -65 "$SOTTO" head --features x.csv --labels y.csv --epochs 1 -o h.safetensors
  [[ "$output" == *"y.csv:2: cell 1 is ''; expected a number"* ]]
  run -0 "$SOTTO" data check --features x.csv --labels y.csv --classes 2
  [ "${lines[0]}" = "1 of 4 records would count as nothing in private training" ]
  printf '0\n1\n1\n\n' > y.csv # the last one too
  run -0 "$SOTTO" data check --features x.csv --labels y.csv --classes 2
  [ "${lines[0]}" = "1 of 4 records would count as nothing in private training" ]
}
