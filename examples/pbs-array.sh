#!/bin/bash
# An experiment by the 64 tasks of a PBS job array, then one job that merges:
#   job=$(qsub -J 0-63 -v CONFIG=/shared/CONFIG.yaml,FOLDER=/shared/FOLDER examples/pbs-array.sh)
#   qsub -W depend=afterany:"$job" -v CONFIG=/shared/CONFIG.yaml,FOLDER=/shared/FOLDER examples/pbs-array.sh
#PBS -l select=1:ncpus=2
#PBS -l walltime=04:00:00
#PBS -r y
set -eu
# Nodes of several kinds: export SOTTO_ISA=v3, the level that all of them have.
work=(sotto run "$CONFIG" -o "$FOLDER" --threads "${NCPUS:-2}")
if [ -n "${PBS_ARRAY_INDEX:-}" ]; then
  exec "${work[@]}" --worker # or the static way: --shard auto/64
fi
exec "${work[@]}"
