#!/usr/bin/env bats
# label: landing
# The source archive: the same bytes twice, all that is tracked, and a tree of its own that cmake takes. ('make deb' builds from it.)

bats_require_minimum_version 1.5.0

setup() {
  dir=$(mktemp -d)
  tree=$BATS_TEST_DIRNAME/../..
  git -C "$tree" rev-parse --git-dir >/dev/null 2>&1 || skip "no clone"
}
teardown() { rm -rf "$dir"; }

@test "make dist writes the same bytes twice, with the version in the name" {
  archive=$("$tree/tools/dist" "$dir/a" 2>/dev/null)
  [ "$archive" = "$dir/a/sotto-$(git -C "$tree" show HEAD:VERSION).tar.xz" ]
  sleep 1
  "$tree/tools/dist" "$dir/b" >/dev/null 2>&1
  cmp "$archive" "$dir/b/${archive##*/}"
  [ "$(ls "$dir/a")" = "${archive##*/}" ]
}

@test "the archive unpacks to one folder with every tracked file, which cmake configures and make install would build" {
  tar -xf "$("$tree/tools/dist" "$dir" 2>/dev/null)" -C "$dir"
  cd "$dir"/sotto-*/
  diff <(git -C "$tree" ls-tree -r --name-only HEAD | sort) <(find . -type f -o -type l | sed 's,^\./,,' | sort)
  cmake -S . -B build/install -G Ninja -DSOTTO_TESTS=OFF -DSOTTO_BENCH=OFF >/dev/null
  grep -q '/src/core/dp/' build/install/compile_commands.json
  run -1 grep -F "$(cd "$tree" && pwd)/" build/install/compile_commands.json build/install/build.ninja
  run tools/dist "$dir/c"
  [ "$status" -eq 66 ]
}

@test "the Debian package of the library has the library's number in its name" {
  number=$(sed -n 's/^set(SOTTO_SOVERSION \([0-9.]*\)).*/\1/p' "$tree/cmake/library.cmake")
  [ -n "$number" ]
  grep -qx "Package: libsotto$number" "$tree/debian/control"
  [ -e "$tree/debian/libsotto$number.install" ]
}
