#!/usr/bin/env bats
# sotto data fetch: downloads from a small server of the tests (tests/support/range_server.h), never from the net.

setup() {
  work=$(mktemp -d)
  export SOTTO_DATA_DIR=$work/data SOTTO_FASHION_MNIST=$work/none no_proxy=127.0.0.1
  cd "$work"
  "$SOTTO" data fetch unknown-set 2>&1 | grep -q "no libcurl" && skip "built without libcurl"
  mkdir served
  "${SOTTO_RANGE_SERVER:?}" served requests > port 3>&- &
  server=$!
  for _ in $(seq 100); do [ -s port ] && break; sleep 0.05; done
  base=http://127.0.0.1:$(cat port)
}

teardown() {
  [ -z "${server-}" ] || kill "$server" 2>/dev/null || :
  rm -rf "$work"
}

sotto() { run "$SOTTO" "$@"; }

# a CIFAR-100 archive of two training records and one test record; sets $sum
make_cifar100() {
  mkdir -p cifar-100-binary
  { printf '\4\0'; head -c 3072 /dev/zero; printf '\0\110'; head -c 3072 /dev/urandom; } > cifar-100-binary/train.bin
  { printf '\23\143'; head -c 3072 /dev/zero; } > cifar-100-binary/test.bin
  tar czf served/cifar.tar.gz cifar-100-binary
  sum=$(sha256sum served/cifar.tar.gz | cut -d ' ' -f 1)
}

@test "fetch downloads, checks and imports in one go" {
  make_cifar100
  sotto data fetch cifar100 --url "$base/ok/cifar.tar.gz" --sha256 "$sum"
  [ "$status" -eq 0 ]
  [[ $output == *"$base/ok/cifar.tar.gz"*"checked by SHA-256"*"licence: none stated"*"imported cifar100; "* ]]
  [ "$(ls -A data)" = cifar100 ]
  sotto data info cifar100
  [[ $output == *"records    3 (2 training, 1 test)"*"72 seal: 1"* ]]
  grep -q "\"url\": \"$base/ok/cifar.tar.gz\"" data/cifar100/dataset.json
  sotto data verify cifar100
  [ "$status" -eq 0 ]
  sotto data fetch cifar100 --url "$base/ok/cifar.tar.gz" --sha256 "$sum"
  [ "$status" -eq 73 ]
  [ "$(wc -l < requests)" -eq 1 ]
}

@test "fetch takes the options of the import and prints one object with --json" {
  make_cifar100
  sotto data fetch cifar100 --url "$base/ok/cifar.tar.gz" --sha256 "$sum" --label coarse --json --quiet
  [ "$status" -eq 0 ]
  [[ $output == "{"*'"schema": "sotto.data-info/1"'*'"classes": 20'*"}" ]]
}

@test "a killed download continues where it was" {
  make_cifar100
  head -c 300000 /dev/urandom > cifar-100-binary/notes.txt
  tar czf served/cifar.tar.gz cifar-100-binary
  sum=$(sha256sum served/cifar.tar.gz | cut -d ' ' -f 1)
  "$SOTTO" data fetch cifar100 --url "$base/slow/cifar.tar.gz" --sha256 "$sum" >/dev/null 2>&1 3>&- &
  victim=$!
  part=data/.download-cifar10*/cifar.tar.gz.part
  for _ in $(seq 200); do [ "$(cat $part 2>/dev/null | wc -c)" -gt 20000 ] && break; sleep 0.02; done
  kill -9 $victim
  wait $victim 2>/dev/null || :
  [ ! -e data/cifar100 ]
  have=$(cat $part | wc -c)
  [ "$have" -gt 20000 ]
  sleep 0.3 # the server notices that its client has gone
  sotto data fetch cifar100 --url "$base/ok/cifar.tar.gz" --sha256 "$sum"
  [ "$status" -eq 0 ]
  [[ $output == *"$have bytes of cifar.tar.gz are here already"* ]]
  [ "$(tail -n 1 requests)" = "/ok/cifar.tar.gz $have-" ]
  [ "$(ls -A data)" = cifar100 ]
}

@test "an interrupted download exits with 130 and says how to continue" {
  make_cifar100
  head -c 300000 /dev/urandom > cifar-100-binary/notes.txt
  tar czf served/cifar.tar.gz cifar-100-binary
  sum=$(sha256sum served/cifar.tar.gz | cut -d ' ' -f 1)
  run timeout --preserve-status -s INT 0.7 "$SOTTO" data fetch cifar100 --url "$base/slow/cifar.tar.gz" --sha256 "$sum"
  [ "$status" -eq 130 ]
  [[ $output == *": stopped"*"hint: "*" bytes are kept; run the same command again to continue there" ]]
}

@test "each fault of the server has its own error line and exit code" {
  make_cifar100
  sotto data fetch x --url "$base/code404/cifar.tar.gz" --sha256 "$sum"
  [ "$status" -eq 66 ]
  [[ ${lines[-1]} == "sotto: error: $base/code404/cifar.tar.gz: the server answers 404 (no such file); expected the file" ]]
  [ -z "$(ls -A data)" ] # nothing came, nothing stays
  sotto data fetch x --url "$base/code500/cifar.tar.gz" --sha256 "$sum"
  [ "$status" -eq 75 ]
  sotto data fetch x --url "$base/stop100/cifar.tar.gz" --sha256 "$sum"
  [ "$status" -eq 74 ]
  [[ $output == *"the connection broke ("*"hint: 100 bytes are kept; run the same command again to continue there" ]]
  sotto data fetch x --url "$base/ok/cifar.tar.gz" --sha256 "${sum//[0-9]/0}"
  [ "$status" -eq 65 ]
  [[ $output == *"has SHA-256 $sum; expected ${sum//[0-9]/0}"* ]]
  [ -z "$(ls -A data)" ]
  sotto data fetch cifar10 --url "$base/ok/cifar.tar.gz"
  [ "$status" -eq 65 ]
  [[ $output == *"bytes; expected 170052171" ]]
  kill "$server"
  wait "$server" 2>/dev/null || :
  sotto data fetch x --url "$base/ok/cifar.tar.gz" --sha256 "$sum"
  [ "$status" -eq 75 ]
  [[ $output == *": no connection ("* ]]
}

@test "usage errors of fetch" {
  sotto data fetch
  [ "$status" -eq 64 ]
  sotto data fetch cifar10 --name x
  [ "$status" -eq 64 ]
  [[ $output == *"--name is only an option of 'data import'"* ]]
  sotto data import x --name y --yes
  [ "$status" -eq 64 ]
  [[ $output == *"--yes is only an option of 'data fetch'"* ]]
  sotto data fetch x --url http://example.org/x.tar --sha256 "$(printf '%064d' 1)"
  [ "$status" -eq 64 ]
  sotto data fetch x --url https://example.org/x.tar
  [ "$status" -eq 64 ]
  [[ $output == *"its SHA-256 is unknown, so a download could not be checked"*"hint: give the SHA-256 of the publisher by --sha256 HEX" ]]
  sotto data fetch location
  [ "$status" -eq 66 ]
  [ "${lines[0]}" = "sotto: error: data set 'location': its download address is unknown" ]
  [[ ${lines[1]} == "hint: sotto data import PATH --name location"* ]]
  [ ! -e data ]
}

@test "both parts of STL-10 come from one archive" {
  mkdir stl10_binary
  head -c 55296 /dev/urandom > stl10_binary/train_X.bin
  printf '\1\12' > stl10_binary/train_y.bin
  head -c 82944 /dev/urandom > stl10_binary/unlabeled_X.bin
  tar czf served/stl.tar.gz stl10_binary
  sum=$(sha256sum served/stl.tar.gz | cut -d ' ' -f 1)
  sotto data fetch stl10 --url "$base/ok/stl.tar.gz" --sha256 "$sum" --size 32x32
  [ "$status" -eq 0 ]
  [ "$(ls -A data)" = "stl10
stl10-unlabelled" ]
  sotto data info stl10
  [[ $output == *"STL-10, labelled part"*"records    2 (2 training, 0 test)"*"3 x 32 x 32"*"9 truck: 1"* ]]
  sotto data info stl10-unlabelled
  [[ $output == *"records    3 "*"labels     none"* ]]
  sotto data list
  [[ $output == *"stl10-unlabelled   imported"* ]]
}
