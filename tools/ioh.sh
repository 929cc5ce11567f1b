#!/usr/bin/env bash
# Read what `compare --ioh` writes with the package iohinspector, in a folder of packages of its own.
#
# It is no part of the environment: two of its dependencies (glicko2, skelo) install a package called `tests`, which hides
# ours from worker processes. Where it cannot be had, nothing is tried, one sentence says so, and the exit code is 0.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if ! .venv/bin/python -m pip install --quiet --no-compile --target "$folder" iohinspector==0.0.8 2>"$folder.log"; then
    echo "ioh: iohinspector 0.0.8 cannot be installed here, so the export was not read back."
    exit 0
fi
rm -rf "$folder/tests" "$folder.log"
PYTHONPATH="$folder:$PWD" .venv/bin/python -m pytest -q -n 0 -p no:cacheprovider -rs \
    tests/optmodels/studies/store/test_ioh.py -k iohinspector
