#!/usr/bin/env bats
# sotto account --certified: the same account by ball arithmetic.

@test "a release: the certified interval is the closed form's" {
  run "$SOTTO" account --mechanism logistic --scale 1 --l1 1 --delta 1e-5 --certified
  [ "$status" -eq 0 ]
  [[ "$output" == *"at most 0.9949652667"*"(closed form by l1, balls), at least 0.9949652666"* ]]
}

@test "sampled training: both ends of the interval, in JSON" {
  run "$SOTTO" account --mechanism gaussian --noise-multiplier 9 --sample-rate 0.1 --steps 10 --delta 1e-5 --certified --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"pld, balls"'* ]]
}

@test "a target is never exceeded" {
  run "$SOTTO" account --mechanism gaussian --epsilon 1 --l2 1 --delta 1e-5 --certified --json
  [ "$status" -eq 0 ]
  upper=$(sed -n 's/.*"upper": \([0-9.e+-]*\).*/\1/p' <<< "$output")
  LC_ALL=C awk "BEGIN { exit !($upper <= 1 && $upper > 0.999999) }"
  run "$SOTTO" account --mechanism gaussian --epsilon 0.3 --sample-rate 0.1 --steps 10 --delta 1e-5 --certified --json
  [ "$status" -eq 0 ]
  upper=$(sed -n 's/.*"upper": \([0-9.e+-]*\).*/\1/p' <<< "$output")
  LC_ALL=C awk "BEGIN { exit !($upper <= 0.3 && $upper > 0.2985) }"
}

@test "other mechanisms are refused by name" {
  run "$SOTTO" account --choose --epsilon 1 --l1 1 --certified
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: account: --certified cannot be combined with --choose" ]
  run "$SOTTO" account --mechanism exponential --scale 1 --l1 1 --delta 1e-5 --certified
  [ "$status" -eq 69 ]
  [[ "$output" == *"exponential"*"has no certified account; expected gaussian, logistic or laplace"* ]]
}
