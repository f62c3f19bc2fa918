# shellcheck shell=bash disable=SC2154  # what bats sets
# busy FILE COMMAND...: the command is refused while FILE's lock is held, and works afterwards
busy() {
  local file=$1
  shift
  flock "$file.checkpoint.lock" sleep 600 &
  local holder=$!
  for _ in $(seq 600); do flock -n "$file.checkpoint.lock" true || break; sleep 0.05; done
  echo another > "$file.checkpoint"
  run "$SOTTO" "$@" --fresh -o "$file"
  [ "$status" -eq 75 ] || { echo "--fresh: $status $output"; pkill -P $holder sleep; false; }
  [ "$(< "$file.checkpoint")" = another ] # the run that has it goes on from it
  rm "$file.checkpoint"
  run "$SOTTO" "$@" -o "$file"
  pkill -P $holder sleep
  wait $holder || true
  [ "$status" -eq 75 ] || { echo "$status $output"; false; }
  [[ "${lines[0]}" == *"$file.checkpoint: another run ("*") continues this checkpoint" ]]
  [[ "${lines[1]}" == "hint: wait for it to end, or give this run another --checkpoint" ]]
  [ ! -e "$file" ]
  [ ! -e "$file.checkpoint" ]
  [ ! -e l.jsonl ] || ! grep -q '"event":"reserve"' l.jsonl
  "$SOTTO" "$@" -o "$file"
  [ -e "$file" ]
  [ ! -e "$file.checkpoint.lock" ]
}
