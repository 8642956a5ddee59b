#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A training step under Slurm with profiles on the shared file system, and a jviewd that shows them while
# the job runs. The log of the job holds the line to type on your own machine.
#
#   sbatch docker/slurm.sh python train.py
#
#SBATCH --job-name=train
#SBATCH --nodes=1
#SBATCH --gpus-per-node=8
profiles=${PROFILES:-$SLURM_SUBMIT_DIR/runs/profiles/$SLURM_JOB_ID}
mkdir -p "$profiles"

# Many users share a node: a port of one's own, a token, and a cache on the node's own disk. From a
# login node: ssh -J LOGIN -L 8080:localhost:PORT NODE.
jviewd --profile-dir "$profiles" --port auto --auth token --cache-dir "${TMPDIR:-/tmp}/jviewd-$SLURM_JOB_ID" &
viewer=$!
trap 'kill $viewer' EXIT

# One process a GPU, the first of them recorded; jax.profiler in the program itself writes there, too.
PROFILE_DIR=$profiles srun --ntasks-per-node=8 --gpus-per-task=1 \
  jview-collect -o "$profiles" --if 'SLURM_PROCID == 0' -- "$@"
