#!/bin/bash
# An experiment by workers that mpirun starts, one a slot of its host file; rank 0 merges and writes the report:
#   examples/mpirun-workers.sh HOSTFILE CONFIG.yaml /shared/FOLDER
set -eu
threads=2
# Nodes of several kinds: mpirun -x SOTTO_ISA=v3 ..., the level that all of them have.
# The ranks exchange no messages, they share the folder.
exec mpirun --hostfile "$1" --map-by "slot:PE=$threads" --bind-to core \
  sotto run "$2" -o "$3" --threads "$threads"
