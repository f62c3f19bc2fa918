#!/usr/bin/env bats
# label: landing
# A ten-line consumer must build against the installed library through pkg-config and through CMake.

bats_require_minimum_version 1.5.0

setup() {
  root=$(mktemp -d)
  cmake --install "$SOTTO_BUILD" --prefix "$root/usr" >/dev/null
  cat > "$root/main.c" <<'C'
#include <sotto/sotto.h>
#include <stdio.h>
int main(void)
{
    printf("%s\n", sotto_version());
    return 0;
}
C
}
teardown() { rm -rf "$root"; }

@test "pkg-config consumer builds and runs" {
  export PKG_CONFIG_PATH=$(dirname "$(find "$root" -name sotto.pc)")
  libdir=$(dirname "$(find "$root" -name libsotto.so)")
  # the .pc file names the configured prefix; relocate it as packagers do
  gcc "$root/main.c" -o "$root/consumer" $(pkg-config --define-variable=prefix="$root/usr" --cflags --libs sotto)
  LD_LIBRARY_PATH=$libdir run "$root/consumer"
  [ "$status" -eq 0 ]
  [ "$output" = "$("$SOTTO" version --json | sed 's/.*"version": "\([^"]*\)".*/\1/')" ]
}

@test "the installed program finds its library beside it, and the library exports sotto_* alone" {
  library=$(find "$root" -name 'libsotto.so.?*')
  modules=$(cat "$SOTTO_BUILD/generated/modules/names.txt")
  diff <({ ls "$BATS_TEST_DIRNAME/../../schemas"; for name in $modules; do ls "$BATS_TEST_DIRNAME/../../src/modules/$name/schema" 2> /dev/null || :; done; } | sort) \
    <(ls "$root/usr/share/sotto/schemas" | sort)
  "$BATS_TEST_DIRNAME/../../tools/check-symbols" "$library" "$(find "$root" -name libsotto.a)"
  [ -e "$root/usr/include/sotto/lab/data.h" ]
  [ ! -e "$root/usr/include/sotto/private" ]
  gcc -fsyntax-only -I"$root/usr/include" -x c - <<< '#include <sotto/lab.h>'
  readelf -d "$root/usr/bin/sotto" > "$root/dynamic"
  run -1 grep -F "$SOTTO_BUILD" "$root/dynamic"
  env -u LD_LIBRARY_PATH "$root/usr/bin/sotto" --version
  readelf -d "$SOTTO" | grep -q 'NEEDED.*libsotto' || skip "built with SOTTO_STATIC_PROGRAM"
  mv "$library" "$library.away"
  [[ $(env -u LD_LIBRARY_PATH "$root/usr/bin/sotto" --version 2>&1) == *libsotto.so* ]] # the loader's complaint
}

@test "CMake consumers of both libraries build and run" {
  cat > "$root/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.22)
project(consumer C)
find_package(sotto REQUIRED)
foreach(kind sotto sotto_static)
  add_executable(with_${kind} main.c)
  target_link_libraries(with_${kind} sotto::${kind})
endforeach()
C
  cmake -S "$root" -B "$root/build" -DCMAKE_PREFIX_PATH="$root/usr" >/dev/null
  cmake --build "$root/build" >/dev/null
  shared=$("$root/build/with_sotto")
  [ -n "$shared" ]
  [ "$("$root/build/with_sotto_static")" = "$shared" ]
  readelf -d "$root/build/with_sotto" | grep -q 'NEEDED.*libsotto'
  readelf -d "$root/build/with_sotto_static" > "$root/dynamic"
  run -1 grep 'NEEDED.*libsotto' "$root/dynamic"
}

@test "a static consumer builds and runs" {
  export PKG_CONFIG_PATH=$(dirname "$(find "$root" -name sotto.pc)")
  libdir=$(dirname "$(find "$root" -name libsotto.a)")
  rm "$libdir"/libsotto.so* # so that -lsotto is the archive
  gcc "$root/main.c" -o "$root/consumer" $(pkg-config --static --define-variable=prefix="$root/usr" --cflags --libs sotto)
  run "$root/consumer"
  [ "$status" -eq 0 ]
}

@test "uninstall leaves nothing behind" {
  "$BATS_TEST_DIRNAME/../../tools/uninstall" "$SOTTO_BUILD/install_manifest.txt" '' > /dev/null
  [ -z "$(find "$root/usr" -type f -o -type l | head -1)" ]
  [ -z "$(find "$root/usr" -type d -name sotto | head -1)" ]
}

@test "uninstall with a DESTDIR leaves the system's files alone" {
  DESTDIR=$root/stage cmake --install "$SOTTO_BUILD" --prefix "$root/usr" > /dev/null
  [ -e "$root/stage$root/usr/bin/sotto" ]
  "$BATS_TEST_DIRNAME/../../tools/uninstall" "$SOTTO_BUILD/install_manifest.txt" "$root/stage/" > /dev/null
  [ -z "$(find "$root/stage" -type f -o -type l | head -1)" ]
  [ -x "$root/usr/bin/sotto" ]
  run "$BATS_TEST_DIRNAME/../../tools/uninstall" "$root/missing.txt" ''
  [ "$status" -eq 66 ]
}

@test "servers of models are installed, with a page each" {
  for kind in torch onnx sklearn; do
    [ -x "$root/usr/bin/sotto-serve-$kind" ]
    [ -n "$(find "$root/usr" -name "sotto-serve-$kind.1")" ]
    run python3 "$root/usr/bin/sotto-serve-$kind" missing-file
    [ "$status" -eq 66 ]
    [ "$output" = "sotto-serve-$kind: missing-file: there is no such file" ]
  done
}
