#!/usr/bin/env bash
# Repeats the white paper's evaluation, its Tables 1 to 4: scripts/paper.sh --help, docs/papers/plu-on-a-cluster.md.
set -euo pipefail
exec /usr/bin/python3 -B "$(dirname "${BASH_SOURCE[0]}")/paper/paper.py" "$@"
