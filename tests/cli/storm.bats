#!/usr/bin/env bats
# shards: 3
# A run that is killed at each resume before it finishes a step is resumed three times, not four; private training is charged each time.
# f32, oneDNN or reference kernels, one thread.

setup() {
  dir=$(mktemp -d)
  cd "$dir"
  export XDG_DATA_HOME=$dir/data XDG_CACHE_HOME=$dir/cache
  local backend=dnnl
  "$SOTTO" version | grep -q oneDNN || backend=ref
  common=(--dtype f32 --backend $backend --threads 1)
}
teardown() { cd /; rm -rf "$dir"; }

# killed TEXT COMMAND...: started, and killed once stderr says TEXT; a step takes much longer than that
killed() {
  local text=$1
  shift
  : > said
  "$SOTTO" "$@" 2> said 3>&- &
  local pid=$!
  until grep -q "$text" said; do
    kill -0 $pid || { cat said; return 1; }
    sleep 0.02
  done
  kill -9 $pid
  wait $pid || true
}

# refused FILE COMMAND...: exit code 70, one line and what to do
refused() {
  local file=$1
  shift
  run "$SOTTO" "$@"
  [ "$status" -eq 70 ] || { echo "$status $output"; return 1; }
  [ "$(grep -c 'sotto: error' <<<"$output")" -eq 1 ]
  [[ "$output" == *"sotto: error: $file.checkpoint: 3 resumes in a row ended before they had finished one step; expected a step, so this one stops before it trains or charges anything"* ]]
  [[ "$output" == *"hint: find out what ends them"*"then remove $file.checkpoint.resumes to continue, or give --fresh to start again at step 0"* ]]
  [ ! -e "$file" ]
  run "$SOTTO" "$@" --json
  [ "$status" -eq 70 ]
  [[ "$output" == *'"status": "ESTUCK", "exit_code": 70}' ]] || { echo "$output"; return 1; }
}

# begun FILE COMMAND...: a first run, killed once its checkpoint of step 0 is there
begun() {
  local file=$1
  shift
  "$SOTTO" "$@" --quiet 3>&- &
  local pid=$!
  until [ -s "$file.checkpoint" ]; do
    kill -0 $pid || return 1
    sleep 0.02
  done
  kill -9 $pid
  wait $pid || true
}

# storm FILE COMMAND...: the first run and three resumes are killed within their first step
storm() {
  local file=$1
  shift
  begun "$file" "$@"
  for i in 1 2 3; do
    killed 'continuing at step 0' "$@"
    [ "$(cat "$file.checkpoint.resumes")" = $i ] || { cat "$file.checkpoint.resumes"; return 1; }
  done
}

@test "pretrain: refused after three; --fresh, the file's removal and a finished step reset it" {
  big=(pretrain --data synthetic-images-n640 --batch 640 --epochs 2 "${common[@]}" -o e.st)
  small=(pretrain --data synthetic-images-n40 --batch 16 --epochs 1000000 "${common[@]}" -o s.st)
  printf '3\n' > e.st.checkpoint.resumes # of a run that is gone: a fresh start does not read it
  storm e.st "${big[@]}"
  refused e.st "${big[@]}"
  refused e.st "${big[@]}" # it stays so
  rm e.st.checkpoint.resumes
  killed 'continuing at step 0' "${big[@]}"
  [ "$(cat e.st.checkpoint.resumes)" = 1 ]
  printf '3\n' > e.st.checkpoint.resumes
  killed 'steps of' "${big[@]}" --fresh
  [ ! -e e.st.checkpoint.resumes ]
  # five resumes that each finish a step
  begun s.st "${small[@]}"
  for i in 1 2 3 4 5; do
    : > said # what the run before said is not this one's
    "$SOTTO" "${small[@]}" 2> said 3>&- &
    pid=$!
    until grep -q continuing said && [ ! -e s.st.checkpoint.resumes ]; do sleep 0.02; done
    kill -9 $pid
    wait $pid || true
  done
  grep continuing said
}

@test "train: refused after three, and a run that is over needs no step" {
  big=(train --data synthetic-images-n1024 --model resnet8 --batch 1024 --epochs 2 "${common[@]}" -o m.st)
  storm m.st "${big[@]}"
  refused m.st "${big[@]}"
  done=(train --data synthetic-images-n64 --model cnn --batch 32 --epochs 1 "${common[@]}" --checkpoint c -o d.st --quiet)
  "$SOTTO" "${done[@]}"
  for i in 1 2 3 4 5; do "$SOTTO" "${done[@]}"; done
  [ ! -e c.resumes ]
}

@test "DP-SGD: refused before a charge; the count is the same of a neighbouring set" {
  for n in 512 513; do
    private=(train --data synthetic-images-n$n --model resnet8 --norm group --dp-sgd --noise-multiplier 12 --delta 1e-3 --batch 512 --steps 3 --views 8 --crop 2 "${common[@]}"
      --ledger l$n.jsonl -o m$n.st)
    begun m$n.st "${private[@]}"
    for i in 1 2 3; do
      killed 'charged again' "${private[@]}"
      [ "$(grep -c '"event":"reserve"' l$n.jsonl)" -eq $((i + 1)) ]
    done
    cp l$n.jsonl before
    refused m$n.st "${private[@]}"
    cmp l$n.jsonl before
  done
  cmp m512.st.checkpoint.resumes m513.st.checkpoint.resumes
  [ "$(cat m512.st.checkpoint.resumes)" = 3 ]
}
