#!/usr/bin/env bats
# label: landing
# tools/check-abi finds what would break programs that were compiled against older headers, and nothing else.

setup() {
  check=$BATS_TEST_DIRNAME/../../tools/check-abi
  dir=$(mktemp -d)
  cp -r "$BATS_TEST_DIRNAME/../../include" "$dir/include"
}
teardown() { rm -rf "$dir"; }

# after FILE SED-SCRIPT: the comparison with headers changed so; then they are put back
after() {
  sed -i "$2" "$dir/include/sotto/$1"
  run cmp -s "$dir/include/sotto/$1" "$BATS_TEST_DIRNAME/../../include/sotto/$1"
  [ "$status" -eq 1 ]
  run "$check" compare "$dir/now.abi.xz" "$dir/include"
  cp "$BATS_TEST_DIRNAME/../../include/sotto/$1" "$dir/include/sotto/$1"
}

@test "the headers declare what the library exports" {
  diff <("$check" functions) <(nm -D --defined-only "$SOTTO_BUILD/libsotto.so" | awk '{print $3}' | grep '^sotto_' | sort)
}

@test "a removed function, another parameter, size or value fail; what {0} and old calls survive passes" {
  command -v abidiff >/dev/null || skip "abidiff (abigail-tools) is not installed"
  "$check" write "$dir/now.abi.xz" "$dir/include"
  run "$check" compare "$dir/now.abi.xz" "$dir/include"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  local removed="/sotto_abi_version(void);/d" room="0,/uint64_t reserved\\[4\\]/s//" raised='s/define SOTTO_ABI_VERSION /&9/'
  after base.h "$removed"
  [ "$status" -eq 1 ]
  [[ "$output" == *'[D]'*sotto_abi_version* ]]
  after base.h 's/sotto_abi_version(void)/sotto_abi_version(int which)/'
  [ "$status" -eq 1 ]
  after base.h 's/SOTTO_ESTUCK = 17/SOTTO_ESTUCK = 19/'
  [ "$status" -eq 1 ]
  after train.h "${room}uint64_t reserved[4]; double more/"
  [ "$status" -eq 1 ]
  after train.h "${room}uint32_t reserved[8]; double more/"
  [ "$status" -eq 1 ]
  after base.h "$removed; $raised"
  [ "$status" -eq 0 ]
  after base.h 's/SOTTO_ESTUCK = 17/&, SOTTO_ENEW = 18/'
  [ "$status" -eq 0 ]
  after base.h 's/^SOTTO_API int sotto_abi_version(void);/&\nSOTTO_API int sotto_new(void);/'
  [ "$status" -eq 0 ]
  after train.h "${room}double more; uint64_t reserved[3]/"
  [ "$status" -eq 0 ]
}
