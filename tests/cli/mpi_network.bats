#!/usr/bin/env bats
# label: night
# Two ranks in two network namespaces with 1 Gbit/s between them: the bits of one process; and a link that is lost ends them all.
# Needs root, iproute2 and Open MPI. Names hold the process number, so that two of these may run.

setup() {
  export SOTTO_WATCHDOG_SECONDS=10
  cd "$BATS_TEST_TMPDIR"
  export XDG_DATA_HOME=$PWD/share
  [ "$(id -u)" = 0 ] || skip "root is needed for network namespaces"
  for tool in ip tc mpirun; do command -v $tool > /dev/null || skip "$tool is missing"; done
  [ -e "$SOTTO_BUILD/libsotto_mpi.so" ] || skip "this build has no MPI support"
  near=n$$ far=f$$
  link > link.txt 2>&1 || { close; skip "no network namespaces here: $(tail -n 1 link.txt)"; }
  printf '#!/bin/sh\n# as ssh: HOST COMMAND...\nshift\nexec ip netns exec %s sh -c "$*"\n' $far > agent
  chmod +x agent
  recipe=(pretrain --data synthetic-images-n256 --encoder keras-simclr --batch 64 --seed 3 --dtype f32 --backend dnnl --order exact --threads 1 --quiet)
}
teardown() { close; }
link() {
  ip netns add $near && ip netns add $far && ip link add v$near type veth peer name v$far &&
    ip link set v$near netns $near && ip link set v$far netns $far &&
    ip -n $near addr add 10.77.0.1/24 dev v$near && ip -n $far addr add 10.77.0.2/24 dev v$far || return
  local end
  for end in $near $far; do
    ip -n $end link set v$end up && ip -n $end link set lo up &&
      ip netns exec $end tc qdisc add dev v$end root tbf rate 1gbit burst 256kb latency 50ms || return
  done
}
close() {
  for end in ${near-none} ${far-none}; do ip netns pids $end 2> /dev/null; done | xargs -r kill -9 || true
  ip netns del ${near-none} 2> /dev/null || true
  ip netns del ${far-none} 2> /dev/null || true
}
ranks() { # another transport would hide the network; SIGTERM alone does not end mpirun once the link is lost
  timeout -k 5 120 ip netns exec $near mpirun --allow-run-as-root -n 2 --host 10.77.0.1,10.77.0.2 --mca plm_rsh_agent "$PWD/agent" -x SOTTO_WATCHDOG_SECONDS \
    --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 "$SOTTO" "$@"
}

@test "over a network the weights have the bits of one process" {
  "$SOTTO" "${recipe[@]}" --epochs 2 -o one.safetensors
  ranks "${recipe[@]}" --epochs 2 -o two.safetensors
  cmp one.safetensors two.safetensors
  sent=$(ip -n $near -s -s link show v$near | awk '/TX:/ { getline; print $1; exit }')
  echo "$sent bytes sent" # 8 steps of half the gradient and half the weights
  [ "$sent" -gt 10000000 ]
}

@test "a link that is lost ends every rank" {
  ranks "${recipe[@]}" --epochs 100000 --metrics m.jsonl -o lost.safetensors > out.txt 2>&1 &
  pid=$!
  for _ in {1..600}; do [ ! -s m.jsonl ] || break; sleep 0.1; done
  [ -s m.jsonl ]
  ip -n $near link set v$near down
  programs() { for end in $near $far; do ip netns pids $end; done | xargs -r ps -o comm= -p | grep -cx sotto; }
  for _ in {1..300}; do [ "$(programs)" -gt 0 ] || break; sleep 0.1; done
  [ "$(programs)" -eq 0 ]
  for end in $near $far; do ip netns pids $end; done | xargs -r kill -9 # mpirun itself would wait on
  wait $pid 2> /dev/null || true
  cat out.txt
  grep -q 'no word from the other ranks' out.txt
  [ ! -e lost.safetensors ]
}
