#!/usr/bin/env bats
# label: landing
# Imported images stay on disk: pre-training on more of them than fit in memory. 12,000 images of 96 x 96 (27,648 bytes each) at the landing;
# 10^6 at night (27.6 GB, where 30 GB are free), 50 steps, and where a control group can be made held to 4 GB, page cache included.

load ../support/effort

setup() {
  cd "$BATS_TEST_TMPDIR"
  images=$(by_effort 12000 12000 1000000)
  free=$(df --output=avail -B1 . | tail -1)
  [ "$free" -gt $((images * 30000)) ] || images=12000
  export SOTTO_DATA_DIR=$PWD/data
}
teardown() {
  rm -rf "$BATS_TEST_TMPDIR/data"
  [ ! -d "${group-}" ] || rmdir "$group"
}

header() { printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': ($2, ), }"; }
little_endian() { # in 8 bytes
  local bytes='' at
  for ((at = 0; at < 64; at += 8)); do printf -v bytes '%s\\x%02x' "$bytes" $(($1 >> at & 255)); done
  printf '%b' "$bytes"
}
# hold_to BYTES: a control group of that memory (version 2, or 1); false: none can be made
hold_to() {
  local at
  for at in /sys/fs/cgroup /sys/fs/cgroup/memory; do
    [ -e $at/cgroup.procs ] && mkdir $at/sotto-large.$$ 2> /dev/null || continue
    group=$at/sotto-large.$$
    { echo "$1" > $group/memory.max; } 2> /dev/null || { echo "$1" > $group/memory.limit_in_bytes; } 2> /dev/null && return
    rmdir $group
    group=
  done
  return 1
}
# A set of so many images, no two alike, without writing them twice: one of 10 is imported and its array is replaced.
large_set() {
  { header '|u1' '10, 3, 96, 96'; head -c 276480 /dev/urandom; } > ten.npy
  "$SOTTO" data import ten.npy --name large --quiet
  { header '|u1' "$images, 3, 96, 96"; head -c $((images * 27648)) /dev/urandom; } > data/large/images.npy
  sed -i "s/\"n\": 10,/\"n\": $images,/; s/^      10\(,\|\$\)/      $images\1/" data/large/dataset.json
}

@test "memory does not grow with the number of images" {
  [ "$free" -gt $((images * 30000)) ] || skip "$((images * 30000 / 1000000)) MB are needed, $((free / 1000000)) are free"
  large_set
  { header '<i8' 800; for ((i = 0; i < 800; i++)); do little_endian $((i * (images / 800))); done; } > rows.npy
  group=
  [ "$images" -lt 1000000 ] || hold_to 4000000000 || true
  (
    [ -z "$group" ] || echo $BASHPID > $group/cgroup.procs
    exec "$SOTTO" pretrain --data large --indices rows.npy --encoder keras-simclr --order exact --batch 16 --epochs 1 --threads 1 --quiet -o m.safetensors
  ) &
  pid=$! most=0
  while kill -0 $pid 2> /dev/null; do
    own=$(sed -n 's/^RssAnon:[[:space:]]*\([0-9]*\) kB/\1/p' /proc/$pid/status 2> /dev/null) || true
    [ "${own:-0}" -le $most ] || most=$own
    sleep 0.05
  done
  wait $pid
  echo "$images images, $((images * 27648 / 1000000)) MB: $((most / 1000)) MB of memory of its own${group:+, at most 4 GB with page cache}"
  [ "$most" -gt 0 ]
  [ $((most * 1024)) -lt $((images * 27648)) ]
  [ $((most * 1024)) -lt 4000000000 ]
}
