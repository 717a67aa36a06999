#!/usr/bin/env bash
# Visits all states of a Spin model: assertions and deadlocks. Needs Debian's spin and a C compiler.
#   tests/models/check.sh MODEL.pml
set -euo pipefail
model=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
spin -a "$model"
cc -O2 -w -DSAFETY -DCOLLAPSE -o pan pan.c
./pan -m200000 -n | tee result.txt
if ! grep -q 'errors: 0$' result.txt || grep -qE 'search depth too small|Search not completed|out of memory' result.txt; then
  spin -k ./*.trail -t -p -g "$model" 2>/dev/null | tail -60 || true
  echo "$(basename "$model"): an assertion fails, ranks wait for ever, or not all states were visited" >&2
  exit 1
fi
