#!/usr/bin/env bats
# Generative models from the outside: train, resume after kill -9, sample, score, attack, messages and exit codes.

bats_require_minimum_version 1.5.0
load ../../../../../tests/support/busy

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  data=synthetic-images-n200
  common=(--data "$data" --batch 8 --width 4 --seed 3 --threads 2 --quiet)
  rows m.npy 0 40
  rows n.npy 40 80
}

# rows FILE FIRST END: an .npy of row numbers
rows() {
  local head="{'descr': '<i8', 'fortran_order': False, 'shape': ($(($3 - $2)),), }" i
  while [ $(((${#head} + 11) % 64)) -ne 0 ]; do head+=' '; done
  { printf '\x93NUMPY\x01\x00'; printf "\\x$(printf %02x $((${#head} + 1)))\\x00"; printf '%s\n' "$head"
    for ((i = $2; i < $3; i++)); do printf "\\x$(printf %02x "$i")\\x00\\x00\\x00\\x00\\x00\\x00\\x00"; done; } > "$1"
}

@test "train, sample, records, score, attack, audit" {
  for model in dcgan wgan-gp vae; do
    run "$SOTTO" generate train "${common[@]}" --indices m.npy --model "$model" --steps 10 --metrics "$model.jsonl" -o "$model.safetensors" --json
    [ "$status" -eq 0 ]
    [[ "$output" == '{"schema": "sotto.generate/1", "model": "'"$model"'", "steps": 10, '* ]]
    [ ! -e "$model.safetensors.checkpoint" ]
  done
  grep -q mean_logit_fake dcgan.jsonl || [ ! -s dcgan.jsonl ] # 100 steps and more are reported
  grep -q 'no privacy statement is made' dcgan.safetensors
  "$SOTTO" generate sample --generator dcgan.safetensors --count 30 --seed 5 --latents z.npy -o G.npy --quiet
  [ "$(stat -c %s G.npy)" -eq $((128 + 30 * 32 * 32 * 4)) ]
  [ "$(stat -c %s z.npy)" -eq $((128 + 30 * 100 * 4)) ]
  "$SOTTO" generate records --generator dcgan.safetensors --data "$data" --indices m.npy -o M.npy --quiet
  "$SOTTO" generate records --generator dcgan.safetensors --data "$data" --indices n.npy -o N.npy --quiet
  [ "$(stat -c %s M.npy)" -eq $((128 + 40 * 32 * 32 * 4)) ]
  for side in m n; do "$SOTTO" generate score --generator dcgan.safetensors --data "$data" --indices "$side.npy" -o "d$side.npy" --quiet; done
  run "$SOTTO" audit --member-features M.npy --nonmember-features N.npy --generated G.npy --member-discriminator-scores dm.npy \
    --nonmember-discriminator-scores dn.npy --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"sheet":"data:image/bmp;base64,'* && "$output" != *'"nearest"'* ]]
  logan=$(grep -o '"name":"logan".*' <<< "$output" | grep -o '"auc":{"estimate":[0-9.]*' | head -n 1)
  run "$SOTTO" attack logan --generator dcgan.safetensors --data "$data" --member-indices m.npy --nonmember-indices n.npy --json --quiet
  [ "$status" -eq 0 ]
  [ "$(grep -o '"auc":{"estimate":[0-9.]*' <<< "$output" | head -n 1)" = "$logan" ] # the same from files and from the model
  run "$SOTTO" audit --member-features M.npy --nonmember-features N.npy --generated G.npy --include-indices -o pictures --quiet
  [[ "$output" == *"(intervals are for such pairs, not for models); nothing is proved"* ]]
  grep -q 'Measured only: nothing here is proved' pictures/report.html
  [ "$(grep -o '<img class="pixels" src="data:image/bmp;base64,' pictures/report.html | wc -l)" -eq 6 ] # the sheet and five members
  "$SOTTO" report pictures/report.json -o again.html
  [ "$(grep -o '<img class="pixels" src="data:image/bmp;base64,' again.html | wc -l)" -eq 6 ]
  for attack in reconstruction elbo; do
    run "$SOTTO" attack "$attack" --draws 5 --generator vae.safetensors --data "$data" --member-indices m.npy --nonmember-indices n.npy -o "$attack"
    [ "$status" -eq 0 ]
    grep -q 'id="generative"' "$attack/report.html"
  done
  rows km.npy 80 90
  rows kn.npy 90 100
  for known in "" "--known-member-indices km.npy --known-nonmember-indices kn.npy"; do
    # shellcheck disable=SC2086
    run "$SOTTO" attack logan-blackbox --generator vae.safetensors --data "$data" --member-indices m.npy --nonmember-indices n.npy \
      --imitation-samples 20 --imitation-steps 3 $known --json --quiet
    [ "$status" -eq 0 ]
    [[ "$output" == *'"name":"logan-blackbox"'* ]]
    if [ -n "$known" ]; then [[ "$output" == *'"access":"samples, known records"'* ]]; else [[ "$output" == *'"access":"samples"'* ]]; fi
  done
  run "$SOTTO" attack list
  [[ "$output" == *reconstruction* ]]
}

@test "a killed training continues with the same bytes" {
  long=("${common[@]}" --indices m.npy --steps 30)
  "$SOTTO" generate train "${long[@]}" -o whole.safetensors
  "$SOTTO" generate train "${long[@]}" -o cut.safetensors 3>&- &
  pid=$!
  for i in $(seq 2000); do
    [ -e cut.safetensors.checkpoint ] && break
    sleep 0.01
  done
  sleep 0.02
  kill -9 "$pid" 2>/dev/null || :
  wait "$pid" || :
  [ -e cut.safetensors ] || [ -e cut.safetensors.checkpoint ]
  "$SOTTO" generate train "${long[@]}" -o cut.safetensors
  cmp whole.safetensors cut.safetensors
}

@test "what is refused, and how" {
  run "$SOTTO" generate paint
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: generate: action 'paint' is unknown; expected train, sample, score or records" ]
  run "$SOTTO" generate train "${common[@]}" --dp-sgd -o g.safetensors
  [ "$status" -eq 64 ]
  [[ "$output" == *"--dp-sgd is not supported"* ]]
  run "$SOTTO" generate train "${common[@]}" --model gan -o g.safetensors
  [ "$status" -eq 64 ]
  run "$SOTTO" generate train --data synthetic-blobs-n100 -o g.safetensors --quiet
  [ "$status" -eq 65 ]
  [[ "$output" == *"contains features; a generative model needs images" ]]
  run "$SOTTO" generate sample --generator m.npy -o G.npy
  [ "$status" -eq 65 ]
  run "$SOTTO" generate sample -o G.npy
  [ "$status" -eq 64 ]
  [ ! -e G.npy ]
  [ ! -e g.safetensors ]
  "$SOTTO" generate train "${common[@]}" --steps 2 -o g.safetensors
  run "$SOTTO" attack logan --generator g.safetensors --data "$data" --member-indices m.npy --nonmember-indices m.npy
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: attack: 40 rows are in both --member-indices and --nonmember-indices; expected no common row" ]
  run "$SOTTO" attack elbo --generator g.safetensors --data "$data" --member-indices m.npy --nonmember-indices n.npy
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: attack 'elbo' needs a model of kind vae; this one is a dcgan" ]
  common=(--generator g.safetensors --data "$data" --member-indices m.npy --nonmember-indices n.npy)
  rows km.npy 80 90
  run "$SOTTO" attack logan "${common[@]}" --known-member-indices km.npy
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: attack 'logan' uses no known records; remove --known-member-indices and --known-nonmember-indices" ]
  run "$SOTTO" attack logan-blackbox "${common[@]}" --known-member-indices km.npy
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: attack: known records need both --known-member-indices and --known-nonmember-indices" ]
  run "$SOTTO" attack logan-blackbox "${common[@]}" --known-member-indices km.npy --known-nonmember-indices n.npy
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: attack: 40 rows are in both --nonmember-indices and --known-nonmember-indices; expected no common row" ]
  run "$SOTTO" attack gan-leaks-partial --image-queries 10 --generator g.safetensors --data "$data" --member-indices m.npy --nonmember-indices n.npy
  [ "$status" -eq 65 ]
}

@test "attacks on generative models stand in the list, and a name that is nearly one is told" {
  for name in logan logan-blackbox gan-leaks-white gan-leaks-partial reconstruction elbo; do
    "$SOTTO" attack list | grep -q "^  $name "
    "$SOTTO" attack list --json | grep -q "\"name\": \"$name\""
  done
  run -64 "$SOTTO" generate train --data synthetic-images-n300 --model dcgna -o g.safetensors
  [[ "$output" == *"; did you mean 'dcgan'?" ]]
}

@test "two runs on one checkpoint: the second is refused" {
  busy g.safetensors generate train --model dcgan --width 4 --data synthetic-images-n64 --batch 20 --steps 2 --threads 1 --quiet
}

@test "progress is shown" {
  "$SOTTO" generate train --model dcgan --width 4 --data synthetic-images-n60 --batch 20 --steps 2 -o g.safetensors --progress always > out.txt 2> err.txt
  tr '\r' '\n' < err.txt | grep -q "^generate .*100 %"
}

@test "under a launcher of several ranks it is refused before anything is read" {
  for variables in "OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK" "PMI_SIZE=4 PMI_RANK"; do
    for rank in 0 3; do run -69 env $variables=$rank "$SOTTO" generate sample; done
  done
}
