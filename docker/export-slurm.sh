#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The tables of every profile below a directory as files for DuckDB and Spark, by an array of jobs: each takes
# its part of the runs, as `jviewd plan PROFILES --parts N` tells them. A job that failed is submitted again by
# its number, and doubles nothing.
#
#   sbatch --array=1-16 docker/export-slurm.sh runs/profiles warehouse
#
#SBATCH --job-name=jviewd-export
#SBATCH --cpus-per-task=2
#SBATCH --mem=8G
profiles=$1 warehouse=$2
part=$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT

# Indexes go into a store that all nodes see; the cache is the node's own, and goes with the job.
exec jviewd export "$profiles" --to "$warehouse" --format "${FORMAT:-arrow}" --part "$part" \
  --index-store "$warehouse/index" --cache-dir "${TMPDIR:-/tmp}/jviewd-$SLURM_JOB_ID"
