#!/usr/bin/env bats
# audit --coins --certificate: the whole trade-off curve of a certificate against guesses in one run.

setup_file() {
  cd "$BATS_FILE_TMPDIR" || exit 1
  export XDG_DATA_HOME=$PWD
  "$SOTTO" embed --data synthetic-images-n60 --encoder scattering --labels-out y.npy -o x.npy --quiet > /dev/null
  for adjacency in zero-out replace-one; do # with much noise, whose curve takes little time
    "$SOTTO" head --features x.npy --labels y.npy --classes 10 --trainer dp-sgd --batch 20 --epochs 1 --noise-multiplier 9 --delta 1e-3 --adjacency $adjacency \
      --ledger $adjacency.jsonl --quiet -o $adjacency.safetensors > /dev/null
  done
  for n in $(seq 1 200); do # the 30 surest of either side are right, the rest are mixed
    if [ "$n" -le 30 ]; then echo "-$n,1"; echo "-$n,0" >&2; else echo "$((n * 7 % 100)).25,1"; echo "$((n * 3 % 100)).5,0" >&2; fi
  done > m.csv 2> n.csv
  cut -d, -f1 m.csv | tr -d - | LC_ALL=C awk '{print ($1 <= 30 && NR <= 30) ? $1 / 1000 : 1 + $1 / 100}' > member.csv
  cut -d, -f1 n.csv | tr -d - | LC_ALL=C awk '{print ($1 <= 30 && NR <= 30) ? 10 + $1 : 1 + $1 / 100}' > nonmember.csv
}

setup() {
  cd "$BATS_FILE_TMPDIR" || exit 1
  export XDG_DATA_HOME=$PWD
}
audit() { "$SOTTO" audit --member-losses member.csv --nonmember-losses nonmember.csv --attack loss --delta 1e-5 --quiet "$@"; }

@test "a leak contradicts the certificate's curve: table, JSON, page and exit code" {
  run audit --coins inclusion --certificate zero-out.safetensors
  [ "$status" -eq 1 ]
  [[ "$output" == *"zero-out: CONTRADICTED at 95 % (p = "*" over 1 attack)"* ]]
  [[ "$output" == *"loss, one run: 40 of 40 guesses right"* ]]
  [[ "$output" == *"only if the curve is Gaussian: mu >="* ]]
  run audit --coins inclusion --certificate zero-out.safetensors --json
  [ "$status" -eq 1 ]
  [[ "${output//\": /\":}" == *'"curve":{"of":"gaussian noise of multiplier '*'"adjacency":"zero-out",'*'"contradicted":true'* ]]
  [[ "${output//\": /\":}" == *'"one_run_bounds":{"epsilon_lower_bound":'* ]]
  run audit --coins inclusion --certificate zero-out.safetensors -o page
  [ "$status" -eq 1 ]
  tr '\n' ' ' < page/report.html | sed 's/<[^>]*>//g' | grep -q "Curve contradicted at 95"
}

@test "what does not contradict it proves nothing" {
  run "$SOTTO" audit --member-losses nonmember.csv --nonmember-losses nonmember.csv --attack loss --coins inclusion --certificate zero-out.safetensors --quiet
  [ "$status" -eq 0 ]
  [[ "$output" == *"not contradicted, which is no proof at 95 %"* ]]
}

@test "coins that are not the certificate's adjacency test nothing" {
  run audit --coins inclusion --certificate replace-one.safetensors
  [ "$status" -eq 0 ]
  [[ "$output" == *"not tested: the certificate is about a record that is replaced"* ]]
  run audit --coins replacement --certificate zero-out.safetensors
  [ "$status" -eq 0 ]
  [[ "$output" == *"not tested: the certificate is about a record that is there or not"* ]]
  run audit --coins replacement --certificate replace-one.safetensors
  [ "$status" -eq 1 ]
  [[ "$output" == *"replace-one: CONTRADICTED"* ]]
}

@test "the number of guesses is a tenth of the records, or what --one-run says" {
  run audit --coins inclusion --one-run 10
  [ "$status" -eq 0 ]
  [[ "$output" == *"20 of 20 guesses right"* ]]
  run audit --coins sideways
  [ "$status" -eq 64 ]
  [[ "$output" == *"--coins: 'sideways' is unknown; expected inclusion or replacement"* ]]
}

@test "the curve is never a claim of epsilon and delta" {
  run audit --coins inclusion --certificate zero-out.safetensors --claim eps=64,delta=1e-5
  [ "$status" -eq 1 ]
  [[ "$output" == *"claim of epsilon 64, delta 1e-05: not contradicted"* ]]
}
