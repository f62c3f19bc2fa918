#!/usr/bin/env bats
# A ten-line consumer must build against the installed library through pkg-config and through CMake.

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

@test "CMake consumer builds and runs" {
  cat > "$root/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.22)
project(consumer C)
find_package(sotto REQUIRED)
add_executable(consumer main.c)
target_link_libraries(consumer sotto::sotto)
C
  cmake -S "$root" -B "$root/build" -DCMAKE_PREFIX_PATH="$root/usr" >/dev/null
  cmake --build "$root/build" >/dev/null
  run "$root/build/consumer"
  [ "$status" -eq 0 ]
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
