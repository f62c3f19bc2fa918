#!/usr/bin/env bats
# Signed certificates: the key, the signature beside the certificate, and what a reader trusts.

setup_file() {
  cd "$BATS_FILE_TMPDIR" || exit 1
  "$SOTTO" embed --data synthetic-images-n60 --encoder scattering --labels-out y.npy -o x.npy --quiet > /dev/null
}
setup() {
  cd "$BATS_TEST_TMPDIR" || exit 1
  export XDG_DATA_HOME=$PWD
  cp "$BATS_FILE_TMPDIR"/[xy].npy* .
  "$SOTTO" key new -o office.key > /dev/null
}
# release OPTIONS...: a head with much noise, whose account takes little time
release() {
  "$SOTTO" head --features x.npy --labels y.npy --classes 10 --trainer dp-sgd --batch 20 --epochs 1 --epsilon 0.3 --quiet -o h.safetensors "$@"
}

@test "a signed certificate verifies, and names the key; --trust wants it" {
  release --sign office.key
  run "$SOTTO" verify h.safetensors --trust office.key.pub
  [ "$status" -eq 0 ]
  [[ "${lines[0]}" == *"consistent, signed" ]]
  key=$("$SOTTO" key show office.key.pub --json | sed 's/.*"public_key": "\([0-9a-f]*\)".*/\1/')
  [ "${#key}" -eq 64 ]
  [[ "$output" == *"by key $key"* ]]
  "$SOTTO" verify h.safetensors --trust "$key" > out
  [ "$("$SOTTO" verify h.safetensors --json | grep -c "\"public_key\": \"$key\"")" -eq 1 ]
}

@test "another key, no signature, and a changed certificate are refused" {
  "$SOTTO" key new -o other.key > /dev/null
  release --sign office.key
  run "$SOTTO" verify h.safetensors --trust other.key.pub
  [ "$status" -eq 1 ]
  [[ "$output" == *"does NOT verify: signature: "*"which --trust does not name"* && "$output" != *": consistent"* ]]
  run "$SOTTO" verify h.safetensors --trust other.key.pub --json
  [ "$status" -eq 1 ]
  [[ "$output" == *'"valid": false'*'"failed": "signature: '* ]]
  "$SOTTO" verify h.safetensors --trust other.key.pub --trust office.key.pub > out
  sed -i 's/"time": "2/"time": "3/' h.safetensors.certificate.json
  run "$SOTTO" verify h.safetensors
  [ "$status" -eq 1 ]
  [[ "$output" == *"does NOT verify: signature"* ]]
  release # the next release takes the stale signature away
  [ ! -e h.safetensors.certificate.json.signature.json ]
  "$SOTTO" verify h.safetensors > out
  grep -q "NOT signed" out
  run "$SOTTO" verify h.safetensors --trust office.key.pub
  [ "$status" -eq 1 ]
}

@test "a certificate is signed later, by its officer" {
  release
  "$SOTTO" key sign h.safetensors.certificate.json --key office.key > out
  "$SOTTO" verify h.safetensors --trust office.key.pub > out
}

@test "a certificate that does not verify is not signed, and keeps no earlier signature" {
  release --sign office.key
  sed -i 's/"delta": 0.001/"delta": 0.00001/' h.safetensors.certificate.json
  run "$SOTTO" key sign h.safetensors.certificate.json --key office.key
  [ "$status" -eq 1 ]
  [[ "$output" == *"is not signed, as it does not verify: "* ]]
  [ ! -e h.safetensors.certificate.json.signature.json ]
  release
  printf x >> h.safetensors # nor one of another file
  run "$SOTTO" key sign h.safetensors.certificate.json --key office.key
  [ "$status" -eq 1 ]
  [[ "$output" == *"released file: "* ]]
  echo '{"schema": "sotto.key/1"}' > other.json
  run "$SOTTO" key sign other.json --key office.key
  [ "$status" -eq 65 ]
}

@test "a key that cannot sign is refused before anything is charged" {
  run release --sign office.key.pub
  [ "$status" -eq 64 ]
  run release --sign missing.key
  [ "$status" -eq 66 ]
  [ ! -e h.safetensors ]
  [ -z "$(find . -name '*.jsonl')" ]
  run "$SOTTO" key new -o office.key
  [ "$status" -eq 73 ]
}
