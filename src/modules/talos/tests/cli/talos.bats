#!/usr/bin/env bats
# pretrain --talos from the outside, and the attack that measures it.

setup() {
  dir=$(mktemp -d)
  cd "$dir"
  data=synthetic-faces-n28
  common=(--data "$data" --batch 4 --seed 3 --dtype f32 --backend dnnl --threads 2 --quiet --talos)
}
teardown() { cd /; rm -rf "$dir"; }

refused() { # CODE TEXT COMMAND...
  local code=$1 text=$2
  shift 2
  run "$@"
  [ "$status" -eq "$code" ]
  [[ "$output" == *"$text"* ]]
  [ ! -e e.safetensors ]
}

@test "pretrain --talos writes an encoder, states it in the file, and logs the classifier" {
  run "$SOTTO" pretrain "${common[@]}" --lambda 2 --epochs 2 --metrics m.jsonl -o e.safetensors --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"adversary": {"loss": '* ]]
  [ "$(grep -c '"name":"adversary_accuracy"' m.jsonl)" -eq 2 ]
  run "$SOTTO" inspect e.safetensors
  [[ "$output" == *"talos"*"no guarantee"* ]]
  [[ "$output" != *"adversary."* ]] # the classifier stays behind
  run grep -aq 'bounded=yes' e.safetensors
  [ "$status" -eq 1 ]
  "$SOTTO" pretrain "${common[@]}" --lambda 2 --bounded --epochs 2 -o b.safetensors
  grep -aq 'bounded=yes' b.safetensors
}

@test "kill -9, then the same command: the same bytes" {
  long=("${common[@]}" --epochs 16 --alternation two-pass)
  "$SOTTO" pretrain "${long[@]}" -o whole.safetensors
  "$SOTTO" pretrain "${long[@]}" -o cut.safetensors 3>&- &
  pid=$!
  for i in $(seq 1000); do
    [ -e cut.safetensors.checkpoint ] && break
    sleep 0.01
  done
  sleep 0.1
  kill -9 "$pid"
  wait "$pid" || true
  "$SOTTO" pretrain "${long[@]}" -o cut.safetensors
  cmp whole.safetensors cut.safetensors
}

@test "embeddings and attribute go to the audit" {
  "$SOTTO" pretrain --data synthetic-faces-n80 --batch 8 --talos --epochs 2 --dtype f32 --backend dnnl --threads 2 --quiet -o e.safetensors
  "$SOTTO" embed --encoder e.safetensors --data synthetic-faces-n80 -o x.npy --labels-out y.npy --attribute-out a.npy --quiet
  run "$SOTTO" audit --features x.npy --attribute a.npy --json --quiet
  [ "$status" -eq 0 ]
  [[ "$output" == *'"attribute"'*'"learning_curve"'* ]]
}

@test "bad input is one clear line" {
  run "$SOTTO" pretrain --data synthetic-faces-n80 --batch 8 --talos --encoder resnet8 --norm-scope leaf --leaf 2 -o x.safetensors --quiet
  [ "$status" -eq 65 ]
  [[ "${lines[0]}" == *"norm_scope leaf cannot be combined with talos; omit one of them"* ]]
  "$SOTTO" embed --random keras-simclr --data synthetic-faces-n20 -o x.npy --attribute-out short.npy --quiet
  refused 65 "short.npy: 20 values in 1 dimensions; data set 'synthetic-faces-n28' has 28 rows, and one value for each is expected" \
    "$SOTTO" pretrain "${common[@]}" --attribute short.npy -o e.safetensors
  refused 65 "x.npy: 2560 values in 2 dimensions" "$SOTTO" pretrain "${common[@]}" --attribute x.npy -o e.safetensors
  refused 66 "no.npy" "$SOTTO" pretrain "${common[@]}" --attribute no.npy -o e.safetensors
  refused 65 "talos: data set 'synthetic-images-n28' has no attribute" \
    "$SOTTO" pretrain --data synthetic-images-n28 --batch 4 --talos --quiet -o e.safetensors
  refused 65 "lambda must be finite and >= 0 (got -1)" "$SOTTO" pretrain "${common[@]}" --lambda -1 -o e.safetensors
  refused 65 "alternation 'both' is unknown" "$SOTTO" pretrain "${common[@]}" --alternation both -o e.safetensors
  refused 65 "talos needs method simclr (got" "$SOTTO" pretrain "${common[@]}" --method rotation -o e.safetensors
  refused 64 "pretrain: --lambda needs --talos" "$SOTTO" pretrain --data "$data" --lambda 1 -o e.safetensors
  refused 64 "pretrain: --adversary-steps needs --talos" "$SOTTO" pretrain --data "$data" --adversary-steps 2 -o e.safetensors
  refused 64 "pretrain: --bounded needs --talos" "$SOTTO" pretrain --data "$data" --bounded -o e.safetensors
}

@test "attack encoder: from two encoders and rows to a report" {
  set=synthetic-faces-n200
  "$SOTTO" data split "$set" --parts m=50,n=50,sm=50,sn=40,bank=10 -o p --quiet
  "$SOTTO" pretrain --data "$set" --indices p/m-rows.npy --batch 10 --epochs 1 --dtype f32 --backend dnnl --threads 2 --quiet -o t.safetensors
  "$SOTTO" pretrain --data "$set" --indices p/sm-rows.npy --batch 10 --epochs 1 --dtype f32 --backend dnnl --threads 2 --quiet -o s.safetensors
  rows=(--member-indices p/m-rows.npy --nonmember-indices p/n-rows.npy --shadow-member-indices p/sm-rows.npy
    --shadow-nonmember-indices p/sn-rows.npy)
  both=(attack encoder --encoder t.safetensors --shadow-encoder s.safetensors --data "$set" --views 4 --threads 2 --quiet)
  run "$SOTTO" "${both[@]}" "${rows[@]}" --bank-indices p/bank-rows.npy -o out
  [ "$status" -eq 0 ]
  [[ "$output" == *encoder-mi-vector*encoder-mi-set*encoder-mi-threshold*encoder-contrastive*encoder-norm-ratio* ]]
  [ -e out/report.html ]
  [ -e out/result.json ]
  run "$SOTTO" "${both[@]}" "${rows[@]}" --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"encoder_attack":'*'"bank":0,'* || "$output" == *'"encoder_attack":'* ]]
  [[ "$output" != *encoder-contrastive* ]]
  run "$SOTTO" "${both[@]}" --member-indices p/m-rows.npy
  [ "$status" -eq 64 ]
  [[ "$output" == *"--nonmember-indices"* ]]
  run "$SOTTO" "${both[@]}" "${rows[@]/p\/n-rows/p\/m-rows}"
  [ "$status" -eq 65 ]
  [[ "$output" == *"50 rows are in both --member-indices and --nonmember-indices; expected no common row"* ]]
  run "$SOTTO" "${both[@]/t.safetensors/no.safetensors}" "${rows[@]}"
  [ "$status" -eq 66 ]
  run "$SOTTO" attack list
  [[ "$output" == *"encoder "*"EncoderMI"* ]]
}

@test "compare: audits of several models side by side" {
  audit() { # FILE LOSS-OF-NONMEMBERS
    printf '0.1\n0.2\n0.3\n0.4\n' > m.csv
    printf "$2" > n.csv
    "$SOTTO" audit --member-losses m.csv --nonmember-losses n.csv --json --quiet 2> /dev/null > "$1"
  }
  audit a.json '0.5\n0.6\n0.7\n0.8\n'
  audit b.json '0.1\n0.2\n0.3\n0.4\n'
  run "$SOTTO" compare --model original=a.json --model other=b.json -o joint
  [ "$status" -eq 0 ]
  [[ "$output" == *"original"*"1.000"*"other"*"0.500"*"best improvement per metric"*"membership          none"* ]]
  [ -e joint/compare.json ]
  [ -e joint/compare.csv ]
  [ -e joint/report.html ]
  run "$SOTTO" compare --model original=a.json --model other=b.json --json
  [[ "$output" == '{"schema":"sotto.compare/1",'* ]]
  run "$SOTTO" compare --model original=a.json
  [ "$status" -eq 64 ]
  run "$SOTTO" compare --model original --model other=b.json
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: --model: 'original' is not NAME=FILES; expected for example talos=membership.json,attribute.json" ]
  run "$SOTTO" compare --model original=no.json --model other=b.json
  [ "$status" -eq 66 ]
}
