#!/usr/bin/env bats
# shards: 3
# What shaped the columns meets the records that are charged, at every door: overlap within one identity is refused, before anything is
# charged; what is unknown, or of another identity, is a condition of the certificate; disjoint rows of one import are proved.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR" || exit 1
  export SOTTO_DATA_DIR=$PWD/data XDG_DATA_HOME=$PWD/home
}

charges() { cat home/sotto/ledger/*.jsonl 2> /dev/null | grep -c '"event":"re[ls]e' || true; }
refused() { # TEXT COMMAND...: nothing is charged
  local text=$1 before
  before=$(charges)
  shift
  run "$SOTTO" "$@"
  [ "$status" -eq 65 ] || { echo "status $status: $output"; false; }
  [[ $output == *"$text"* ]] || { echo "$output"; false; }
  [ "$(charges)" -eq "$before" ]
}
conditional_on() { # TEXT CERTIFICATE
  grep -q '"guarantee": "conditional"\|proved: none; conditional' "$2" || { cat "$2"; false; }
  grep -qF "$1" "$2" || { cat "$2"; false; }
}
proved() { run -1 grep -F 'proved: none; conditional' "$1"; }

people() { # FILE: 120 rows
  { echo "age,job,ill"
    for i in $(seq 0 119); do echo "$((i % 90)),$([ $((i % 3)) = 0 ] && echo cook || echo nurse),$([ $((i % 2)) = 0 ] && echo yes || echo no)"; done; } > "$1"
}
head_on() { # FOLDER PART...
  local folder=$1 part=$2
  shift 2
  head_args=(head --features "$folder/$part-features.npy" --labels "$folder/$part-labels.npy" --classes 2 --trainer dp-gd --steps 5 --epsilon 1 --delta 1e-4 --quiet "$@")
}

@test "an encoding that was fitted on the private rows is refused, one of other rows is proved" {
  people people.csv
  "$SOTTO" data import people.csv --name people --dataset-id people --quiet
  "$SOTTO" data split people --parts train=60,test=60 --one-hot --fit-on train -o q --quiet
  head_on q train -o h.safetensors
  refused "the encoding of part train was made from row " "${head_args[@]}"
  [ ! -e h.safetensors ]
  head_on q test -o h.safetensors
  "$SOTTO" "${head_args[@]}"
  proved h.safetensors.certificate.json
  # through another verb, and through what a head was trained on
  refused "the encoding of part train was made from row " protect --records q/train-features.npy --clip 1 --epsilon 1 --delta 1e-4 -o r.npy
  "$SOTTO" head --features q/train-features.npy --labels q/train-labels.npy --classes 2 --trainer convex --lambda 0.1 --clip 2 --quiet -o convex.safetensors
  refused "the encoding of part train was made from row " protect --head convex.safetensors --epsilon 1 --delta 1e-4 -o p.safetensors
}

@test "an encoding of a second import under the same identity is refused, of another one it is a condition" {
  people people.csv
  "$SOTTO" data import people.csv --name people --dataset-id people --quiet
  "$SOTTO" data import people.csv --name again --dataset-id people --quiet
  "$SOTTO" data import people.csv --name others --dataset-id others --quiet
  "$SOTTO" data split people --parts train=60 --one-hot --fit-table again -o q --quiet
  head_on q train -o h.safetensors
  refused "the encoding of table again was made from records of 'people'" "${head_args[@]}"
  "$SOTTO" data split people --parts train=60 --one-hot --fit-table others -o r --quiet
  head_on r train -o h.safetensors
  "$SOTTO" "${head_args[@]}"
  conditional_on "the encoding of table others does not depend on these records" h.safetensors.certificate.json
  "$SOTTO" ledger init --dataset-id others --budget 5,1e-3
  refused "the encoding of table others was made from records of 'others'" "${head_args[@]}" --same-people-as others
}

photos() { # 128 private images, of which an encoder saw the first 64
  python3 - <<'END' || { # without numpy
import struct, random
random.seed(1)
def npy(name, descr, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)
npy("photos.npy", "|u1", "(128, 3, 32, 32)", bytes(random.randrange(256) for _ in range(128 * 3072)))
npy("photos-y.npy", "<i8", "(128,)", b"".join(struct.pack("<q", i % 2) for i in range(128)))
npy("first.npy", "<i8", "(64,)", b"".join(struct.pack("<q", i) for i in range(64)))
npy("last.npy", "<i8", "(64,)", b"".join(struct.pack("<q", 64 + i) for i in range(64)))
END
    false
  }
  "$SOTTO" data import photos.npy:photos-y.npy --name photos --dataset-id photos --quiet
  "$SOTTO" pretrain --data photos --indices first.npy --encoder resnet8 --epochs 1 --batch 32 --dtype f32 --backend dnnl --threads 1 --quiet -o e.safetensors
}
embed() { # PART OUT...: x and y of a part
  "$SOTTO" embed --data photos --indices "$1.npy" -o "$2.npy" --labels-out "$2-y.npy" --quiet "${@:3}"
}
private_head() { # X...
  private_args=(head --features "$1.npy" --labels "$1-y.npy" --classes 2 --trainer dp-gd --steps 5 --epsilon 1 --delta 1e-4 --quiet -o "$1.safetensors" "${@:2}")
}
private_network=(train --data photos --classes 2 --batch 32 --epochs 1 --optimizer sgd --lr 0.1 --dtype f32 --backend dnnl --threads 1 --dp-sgd --epsilon 1 --delta 1e-3 --quiet)

@test "an encoder that saw the private rows is refused behind embed, other rows of one import are proved" {
  photos
  embed first seen --encoder e.safetensors
  private_head seen
  refused "the encoder e.safetensors was trained on row 0 of 'photos', which is to be private" "${private_args[@]}"
  embed last new --encoder e.safetensors
  private_head new
  "$SOTTO" "${private_args[@]}"
  proved new.safetensors.certificate.json
  grep -q '"shaped_by": "the encoder e.safetensors: other rows of the same data set"' new.safetensors.certificate.json
  "$SOTTO" verify new.safetensors --ledger home/sotto/ledger/photos.jsonl
  # fixed and random features come from no record
  for how in "--encoder scattering --grid 1" "--random resnet8"; do
    embed first fixed $how
    private_head fixed
    "$SOTTO" "${private_args[@]}"
    proved fixed.safetensors.certificate.json
  done
  # the encoder that the head names, of features that lost what they knew
  cp fixed.npy lost.npy
  cp fixed-y.npy lost-y.npy
  private_head lost --dataset-id photos --encoder e.safetensors
  refused "the encoder e.safetensors was trained on records of 'photos'" "${private_args[@]}"
}

@test "an encoder of unknown records is a condition" {
  photos
  mv e.safetensors plain.safetensors
  embed first x --encoder plain.safetensors
  private_head x
  "$SOTTO" "${private_args[@]}"
  conditional_on "the encoder plain.safetensors does not depend on these records" x.safetensors.certificate.json
  run "$SOTTO" verify x.safetensors
  [ "$status" -eq 0 ]
  [[ $output == *"The encoder plain.safetensors does not depend on these records"* ]]
  run "$SOTTO" "${private_network[@]}" --indices first.npy --from plain.safetensors --freeze all -o n.safetensors
  [ "$status" -eq 65 ]
  "$SOTTO" "${private_network[@]}" --indices first.npy --from plain.safetensors --freeze all --encoder-by me -o n.safetensors
  conditional_on "the encoder plain.safetensors does not depend on these records" n.safetensors.certificate.json
}

@test "what an encoder was made from travels with what is made from it" {
  photos
  "$SOTTO" "${private_network[@]}" --indices last.npy --from e.safetensors --freeze all -o c.safetensors
  proved c.safetensors.certificate.json
  refused "the encoder e.safetensors was trained on row 0 of 'photos'" "${private_network[@]}" --indices first.npy --from c.safetensors --freeze all -o d.safetensors
  [ ! -e d.safetensors ]
  embed first x --encoder c.safetensors
  private_head x
  refused "the encoder e.safetensors was trained on row 0 of 'photos'" "${private_args[@]}"
  # a plain fine-tuning between them
  "$SOTTO" train --data photos --indices last.npy --from e.safetensors --batch 32 --epochs 1 --optimizer sgd --lr 0.1 --dtype f32 --backend dnnl --threads 1 --quiet -o plain.safetensors
  embed first x --encoder plain.safetensors
  refused "the encoder e.safetensors was trained on row 0 of 'photos'" "${private_args[@]}"
  refused "a private training needs a public encoder" "${private_network[@]}" --indices last.npy --from plain.safetensors --freeze all -o d.safetensors
}

@test "moments and joined features" {
  photos
  embed first p --encoder scattering --grid 1
  embed last q --encoder scattering --grid 1
  embed first x --encoder scattering --grid 1 --standardise p.npy
  private_head x
  refused "the moments p.npy contains row 0 of 'photos', which is to be private; expected embeddings of other records" "${private_args[@]}"
  embed first x --encoder scattering --grid 1 --standardise q.npy
  "$SOTTO" "${private_args[@]}"
  proved x.safetensors.certificate.json
  cp p.npy copy.npy
  embed first x --encoder scattering --grid 1 --standardise copy.npy
  "$SOTTO" "${private_args[@]}"
  conditional_on "the moments copy.npy do not depend on these records" x.safetensors.certificate.json
  embed first seen --encoder e.safetensors # moments of what an encoder made
  embed last unseen --encoder e.safetensors
  embed last m --encoder e.safetensors --standardise seen.npy
  private_head m
  "$SOTTO" "${private_args[@]}"
  proved m.safetensors.certificate.json
  embed first m --random resnet8 --standardise unseen.npy
  refused "the encoder e.safetensors was trained on row 0 of 'photos'" "${private_args[@]}"
  private_head x
  embed first x --encoder scattering --grid 1 --join p.npy
  "$SOTTO" "${private_args[@]}"
  proved x.safetensors.certificate.json
  embed first x --encoder scattering --grid 1 --join copy.npy
  "$SOTTO" "${private_args[@]}"
  conditional_on "the features copy.npy do not depend on these records" x.safetensors.certificate.json
  embed first seen --encoder e.safetensors
  embed first x --encoder scattering --grid 1 --join seen.npy
  refused "the encoder e.safetensors was trained on row 0 of 'photos'" "${private_args[@]}"
  # and an import of such arrays
  "$SOTTO" data import x.npy:x-y.npy --name again --quiet
  refused "the encoder e.safetensors was trained on row 0 of 'photos'" train --data again --model mlp --hidden 4 --classes 2 --batch 32 --epochs 1 --dp-sgd --epsilon 1 --delta 1e-3 --threads 1 -o n.safetensors
}

@test "rows of canaries" {
  photos
  embed first x --random resnet8
  embed last other --random resnet8
  args=(head --features x.npy --labels x-y.npy --classes 2 --trainer dp-adam --batch 32 --epochs 1 --epsilon 1 --delta 1e-4 --canaries 4 --canary-kind clipbkd --quiet -o c.safetensors)
  refused "the canaries x.npy was made from row 0 of 'photos'" "${args[@]}" --canary-public x.npy
  "$SOTTO" "${args[@]}" --canary-public other.npy --fresh
  proved c.safetensors.certificate.json
}

@test "answers of a model without noise" {
  people people.csv
  "$SOTTO" data import people.csv --name people --dataset-id people --quiet
  "$SOTTO" data split people --parts train=40,test=40,public=40 --one-hot --fit-on public -o q --quiet
  "$SOTTO" head --features q/train-features.npy --labels q/train-labels.npy --epochs 1 --quiet -o plain.safetensors
  for part in train test; do
    "$SOTTO" predict --head plain.safetensors --features q/$part-features.npy -o $part.npy --quiet
    cp q/$part-labels.npy $part-y.npy
  done
  private_head train
  refused "the head plain.safetensors was made from row " "${private_args[@]}"
  private_head test
  "$SOTTO" "${private_args[@]}"
  grep -q 'the head plain.safetensors: other rows of the same data set' test.safetensors.certificate.json
}
