#!/usr/bin/env bats
# Defects of the guarantee that were mended, each through the command line. The program of commit 90452cf fails every test
# here, each through the defect that it names: to see that, give SOTTO that program. No test fails because it lacks an option.

load ../support/npy

# numbers as little-endian float64
f8() {
  for v; do
    case $v in
      0) printf '\0\0\0\0\0\0\0\0' ;; 0.5) printf '\0\0\0\0\0\0\xe0\x3f' ;;
      9) printf '\0\0\0\0\0\0\x22\x40' ;; nan) printf '\0\0\0\0\0\0\xf8\x7f' ;;
    esac
  done
}
u1() {
  local v escape
  for v; do
    printf -v escape '\\x%02x' "$v"
    printf %b "$escape"
  done
}
# set_of FOLDER LAST LABEL: 24 records of 2 columns and classes 0 and 1; the last record and its label are those given
set_of() {
  mkdir -p "$1"
  { for i in {1..11}; do f8 0 0.5 0.5 0.5; done; f8 0 0.5 $2; } | npy "$1/features.npy" '<f8' '24, 2'
  u1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 "$3" | npy "$1/labels.npy" '|u1' '24,'
}

setup_file() {
  cd "$BATS_FILE_TMPDIR"
  set_of toy "0.5 0.5" 1
  f8 0 0.5 | npy v.npy '<f8' '2,'
}
setup() {
  cd "$BATS_TEST_TMPDIR"
  export XDG_DATA_HOME=$PWD/home
  unset SOTTO_DATA_DIR
  cp -r "$BATS_FILE_TMPDIR"/{toy,v.npy} .
}

# head_of FOLDER OPTIONS...: h.safetensors, of the records there; private: of the data set toy
head_of() { "$SOTTO" head --features "$1/features.npy" --labels "$1/labels.npy" -o h.safetensors "${@:2}"; }
private() { head_of "$@" --delta 1e-3 --dataset-id toy --ledger l.jsonl; }
protect() { "$SOTTO" protect --mechanism laplace --epsilon 1 --l1 2 --dataset-id toy --ledger l.jsonl "$@"; }
verify() { "$SOTTO" account --verify "$@"; }
charges() { cat l.jsonl 2> /dev/null | grep -cE '"event":"(release|reserve)"' || :; }
size() { [ -e "$1" ] && wc -c < "$1" || echo none; }
# refused CODE TEXT COMMAND...
refused() {
  run "${@:3}"
  [ "$status" -eq "$1" ] && [[ "$output" == *"$2"* ]] || { echo "exit $status: $output"; return 1; }
}

@test "doubles stay doubles: neighbours that a float cannot tell apart are not told apart by 64 either" {
  # 1000000031 and 1000000033 as f8; as floats 1e9 and 1e9 + 64
  printf '\0\0\x80\x0f\x65\xcd\xcd\x41' | npy one.npy '<f8' '1,'
  printf '\0\0\x80\x10\x65\xcd\xcd\x41' | npy other.npy '<f8' '1,'
  for f in one other; do
    for i in $(seq 20); do
      protect --vector $f.npy -o out.npy > /dev/null
      "$SOTTO" inspect out.npy --json | sed -n 's/.*"mean": *\([-+.e0-9]*\).*/\1/p' >> $f.txt
    done
  done
  # the 20 smallest of all 40 are not those of one file
  LC_ALL=C sort -g one.txt other.txt | head -20 > low.txt
  [ "$(grep -cxFf one.txt low.txt)" -gt 0 ]
  [ "$(grep -cxFf other.txt low.txt)" -gt 0 ]
  [ "$(sort -u one.txt | wc -l)" -gt 10 ]
  [ "$("$SOTTO" inspect out.npy --json | grep -c '"dtype": *"f8"')" -eq 1 ]
}

@test "the number of classes is not read off the labels" {
  # fit FOLDER OPTIONS...: by a head and by a network; sizes tells what came out
  fit() {
    rm -rf home/sotto/ledger l.jsonl h.safetensors n.safetensors
    private "$1" --trainer covariance --epsilon 1 "${@:2}" || :
    rm -rf home/sotto/ledger # the set has another identity
    "$SOTTO" train --data "$1" --model mlp --hidden 2 --batch 4 --epochs 1 --threads 1 --dp-sgd --noise-multiplier 9 \
      -o n.safetensors "${@:2}" || :
    sizes="$(size h.safetensors) $(size n.safetensors)"
  }
  set_of two "0.5 0.5" 6
  for f in toy two; do "$SOTTO" data import $f --name $f --quiet; done # names of one length, as files hold them
  fit toy
  first=$sizes
  fit two
  [ "$sizes" = "$first" ] || { echo "$first, $sizes"; false; }
  # where they are given, both are trained, and are of one size
  fit toy --classes 7
  first=$sizes
  fit two --classes 7
  [ "$sizes" = "$first" ]
  [ -e h.safetensors ]
  [ -e n.safetensors ]
}

@test "an encoding that depends on private rows proves nothing, and a declared one does not depend on them" {
  cat > schema.yaml <<'END'
schema: sotto.schema/1
columns:
  - {name: age, type: number, bounds: [0, 100]}
  - {name: height, type: number, bounds: [0, 3]}
  - {name: ill, type: label, classes: ['no', 'yes']}
END
  { echo age,height,ill; for i in $(seq 40); do echo "$((2 * i)),1.$((i % 10)),$([ $((i % 2)) = 0 ] && echo no || echo yes)"; done; } > one.csv
  sed 's/^80,/1e15,/' one.csv > other.csv # one cell of one person
  # encoded OPTIONS...: the bytes of the features that this cell changed; those of its own row are 8
  encoded() {
    for f in one other; do
      "$SOTTO" data import $f.csv --name $f "$@" --quiet > /dev/null
      "$SOTTO" data split $f --parts all=40 --one-hot -o $f > /dev/null
    done
    moved=$({ cmp -l one/all-features.npy other/all-features.npy || :; } | wc -l)
  }
  encoded --label ill
  "$SOTTO" head --features one/all-features.npy --labels one/all-labels.npy --classes 2 --trainer covariance --clip 2 --epsilon 1 --delta 1e-3 -o h.safetensors
  echo "$moved bytes moved"
  [ "$moved" -le 8 ] || grep -q '"proved": "none"' h.safetensors.certificate.json
  rm -r home/sotto/data one other
  encoded --schema schema.yaml
  [ "$moved" -gt 0 ]
  [ "$moved" -le 8 ]
}

@test "a row number that is given 31 times is not certified as one record" {
  u1 $(seq 0 9) $(for i in $(seq 30); do echo 3; done) | npy rows.npy '|u1' '40,'
  for trainer in "dp-sgd --batch 4" covariance; do
    refused 65 "row 3 is listed twice (entries" private toy --classes 2 --trainer $trainer --noise-multiplier 1 --indices rows.npy
  done
  [ "$(charges)" -eq 0 ]
  [ ! -e h.safetensors ]
}

@test "a private trainer prints and refuses the same, whatever one record is" {
  set_of absent "0.5 0.5" 2
  set_of large "9 9" 1
  set_of nan "nan 0.5" 1
  for trainer in "dp-sgd --batch 4" covariance; do
    for f in toy absent large nan; do
      rm -rf home l.jsonl
      run private $f --classes 3 --trainer $trainer --noise-multiplier 9
      echo "$f, exit $status: $output"
      [ $f = toy ] && first="$status $output"
      [ "$status $output" = "$first" ]
    done
    [ "$status" -eq 0 ]
  done
}

@test "the target of a sampled training is that of a budget: one replaced record, with the other epsilon beside it" {
  trained() { # COMMAND...
    run "$@" --epsilon 0.5 --budget-epsilon 0.5 --budget-delta 1e-3
    echo "exit $status: $output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"under replace-one adjacency (epsilon "*" under zero-out)"* ]]
  }
  trained private toy --classes 2 --trainer dp-sgd --batch 4
  trained "$SOTTO" train --data synthetic-images-n64 --hidden 4,8 --batch 16 --epochs 1 --threads 1 --dp-sgd --delta 1e-3 --ledger n.jsonl -o n.safetensors
}

@test "metadata that another program wrote into a head is not released" {
  header='{"__metadata__":{"train_loss":"0.1234567"},"0.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"0.bias":{"dtype":"F32","shape":[2],"data_offsets":[16,24]}}'
  { u1 ${#header} 0 0 0 0 0 0 0; printf %s "$header"; head -c 24 /dev/zero; } > h.safetensors
  protect --vector h.safetensors -o p.safetensors
  ! grep -aq train_loss p.safetensors || { echo "released: $(grep -ao '"train_loss[^,}]*' p.safetensors)"; false; }
}

@test "a line of a ledger of an unknown kind is not skipped" {
  protect --vector v.npy -o out.npy
  # event NAME: one more line of the ledger, in its chain
  event() {
    local line hash
    line="{\"schema\":\"sotto.ledger/1\",\"event\":\"$1\",\"index\":$(wc -l < l.jsonl),\"prev\":\"$(tail -n 1 l.jsonl | sed 's/.*"hash":"\(.*\)"}/\1/')\""
    hash=$(printf '%s}' "$line" | sha256sum | cut -d ' ' -f 1)
    printf '%s,"hash":"%s"}\n' "$line" "$hash" >> l.jsonl
  }
  event torn
  protect --vector v.npy -o out.npy # a line of a known kind is no obstacle
  event gift
  refused 65 gift protect --vector v.npy -o out.npy
}

@test "the same people in another order do not open a new budget" {
  { echo a,b,class; for i in $(seq 40); do echo "0.$i,0.$((i % 7)),$((i % 2))"; done; } > people.csv
  "$SOTTO" data import people.csv --name people --label last --quiet
  for seed in 1 2; do
    "$SOTTO" data split people --parts all=40 --seed $seed -o $seed
    run "$SOTTO" head --features $seed/all-features.npy --labels $seed/all-labels.npy --classes 2 --trainer covariance --clip 2 \
      --epsilon 1.8 --delta 1e-3 --budget-epsilon 2 --budget-delta 1e-3 -o $seed.safetensors
    echo "exit $status: $output"
    [ "$status" -eq $((seed == 1 ? 0 : 77)) ]
  done
}

@test "an output that cannot be written charges nothing" {
  mkdir taken.npy
  for target in nodir/x.npy taken.npy; do
    refused 73 "" protect --vector v.npy -o $target
    refused 73 "" "$SOTTO" train --data synthetic-images-n64 --hidden 4,8 --batch 16 --epochs 1 --threads 1 --dp-sgd \
      --noise-multiplier 1 --ledger l.jsonl -o $target
    [ "$(charges)" -eq 0 ] || { echo "$(charges) charged, no $target"; false; }
  done
}

@test "an input file is not overwritten" {
  cp v.npy kept.npy
  refused 64 "" protect --vector v.npy -o v.npy
  cmp v.npy kept.npy
}

@test "a whole last line of a ledger counts without its newline" {
  protect --vector v.npy --budget-epsilon 1.5 -o out.npy
  truncate -s -1 l.jsonl
  refused 77 "spent 1, with this release 2" protect --vector v.npy -o out.npy
}

@test "a certificate that was edited from sampled to proved is refused" {
  set_of toy "0 9" 1 # a record that moves the head
  head_of toy --classes 2 --trainer adam --lr 0.1
  "$SOTTO" sensitivity --head h.safetensors --features toy/features.npy --labels toy/labels.npy --pairs 40 -o s.json --quiet
  "$SOTTO" protect --head h.safetensors --sensitivity s.json --epsilon 1 --delta 1e-3 --dataset-id toy --ledger l.jsonl -o p.safetensors
  verify p.safetensors.certificate.json
  old=$(sha256sum p.safetensors | cut -d ' ' -f 1)
  cp h.safetensors p.safetensors # the unprotected head
  sed -i -zE "s/$old/$(sha256sum p.safetensors | cut -d ' ' -f 1)/"'
    s/"source": "sampled",\n *"statement": "[^"]*"/"source": "proved", "statement": "proved for the training procedure"/
    s/"proved": "none",\n *"conditional": \{/"conditional": null, "proved": {/
    s/,\n *"condition": "the sampled sensitivity"//
    s/proved: none; conditional: epsilon ([^ ]*) at delta ([^ ]*)/(\1, \2)-differentially private/; s/; only if this is true: [^"]*//' p.safetensors.certificate.json
  refused 1 "does NOT verify" verify p.safetensors.certificate.json
}

@test "a head that was edited to four times the records is not released with a quarter of the noise" {
  head_of toy --classes 2 --trainer convex
  sed -i 's/"records":"24"/"records":"96"/' h.safetensors
  refused 65 "changed after training" "$SOTTO" protect --head h.safetensors --epsilon 1 --delta 1e-3 --dataset-id toy --ledger l.jsonl -o q.safetensors
}

@test "every certificate of a run verifies against its ledger" {
  cat > run.yaml <<'END'
name: small
data: {set: synthetic-images, public: 64, private: 120, heldout: 40}
pretrain: {epochs: 1, batch: 32, dtype: f32, backend: dnnl}
encoder: {evaluate: false}
cases:
  - {name: one, records: 60, head: {trainer: convex, steps: 20}, protect: [{mechanism: logistic, epsilon: 2, delta: 1.0e-5}]}
  - {name: two, records: 60, head: {trainer: convex, steps: 20}, protect: [{mechanism: gaussian, epsilon: 1, delta: 1.0e-5}]}
attack: {names: [loss]}
evaluate: {draws: 0}
END
  "$SOTTO" run run.yaml -o small
  for c in small/protected/{one,two}-p1.safetensors.certificate.json; do verify $c --ledger small/ledger.jsonl; done
}
