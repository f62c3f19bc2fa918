#!/usr/bin/env bats
# sotto run with data.public_set: pre-training on a set of its own, as STL-10 is meant to be used.

setup() {
  root=$(mktemp -d)
  export XDG_DATA_HOME=$root/share
  unset SOTTO_DATA_DIR
  cd "$root"
  mkdir stl10_binary
  head -c $((60 * 27648)) /dev/urandom > stl10_binary/train_X.bin
  printf '\1\2\3\4\5\6\7\10\11\12%.0s' 1 2 3 4 5 6 > stl10_binary/train_y.bin
  head -c $((80 * 27648)) /dev/urandom > stl10_binary/unlabeled_X.bin
  cat > stl.yaml <<'Y'
name: stl
data: {set: stl10, public_set: stl10-unlabelled, public: 70, private: 20, heldout: 30}
pretrain: {epochs: 1, batch: 32, dtype: f32, backend: dnnl}
head: {epochs: 2}
attack: {names: [loss]}
Y
}
teardown() { rm -rf "$root"; }

@test "public images come from the unlabelled set, all others from the labelled one" {
  for name in stl10 stl10-unlabelled; do "$SOTTO" data import stl10_binary --name "$name" --size 32x32; done
  run "$SOTTO" run stl.yaml
  [ "$status" -eq 0 ]
  run "$SOTTO" inspect runs/stl/splits/public.npy --json
  [[ $output == *'"max": 7'[0-9]* ]] || [[ $output == *'"max": 6'[0-9]* ]] # the labelled set ends at row 59
  run "$SOTTO" inspect runs/stl/splits/private.npy
  [[ $output == *"20"* ]]
  grep -q "images of stl10-unlabelled" runs/stl/report.json
  grep -q '"name": *"stl10-unlabelled"' runs/stl/report.json
  grep -q "public_set: stl10-unlabelled" runs/stl/config.resolved.yaml
  run "$SOTTO" run stl.yaml # finished stages are reused
  [ "$status" -eq 0 ]
}

@test "a public set that cannot be one is refused" {
  "$SOTTO" data import stl10_binary --name stl10 --size 32x32
  "$SOTTO" data import stl10_binary --name stl10-unlabelled
  run "$SOTTO" run stl.yaml
  [ "$status" -eq 65 ]
  [[ $output == *"data.public_set: images of stl10-unlabelled are 3x96x96, those of stl10 3x32x32; expected the same" ]]
  run "$SOTTO" run stl.yaml -s data.public_set=stl10
  [ "$status" -eq 65 ]
  [[ $output == *"stl10 and stl10 contain the same records; expected other records than the private ones" ]]
  "$SOTTO" data import "$XDG_DATA_HOME/sotto/data/stl10" --name copy
  run "$SOTTO" run stl.yaml -s data.public_set=copy
  [ "$status" -eq 65 ]
  [[ $output == *"contain the same records; expected other records than the private ones"* ]]
  rm -r "$XDG_DATA_HOME/sotto/data/stl10-unlabelled"
  run "$SOTTO" run stl.yaml
  [ "$status" -eq 66 ]
  [[ $output == *"data set 'stl10-unlabelled' not found"*"hint: comes with: sotto data fetch stl10"* ]]
  run "$SOTTO" run stl.yaml -s data.public=50 -s data.public_set=synthetic-images-n40-s32
  [ "$status" -eq 65 ]
}
