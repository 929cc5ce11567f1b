#!/usr/bin/env bash
# Try the wheel on another Python: install, list, solve one small instance of each kind, and run a few tests.
#
#   tools/smoke.sh              the newest Python found here, up to the newest that pyproject.toml declares
#   tools/smoke.sh python3.13   this one
#
# The environment is .venv-newest, built from requirements.lock and kept until the lock file or the Python changes. Where
# there is no Python newer than the oldest one supported, nothing is tried, one sentence says so, and the exit code is 0.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv-newest
oldest=11

# Minor versions that the classifiers of pyproject.toml name, the newest first.
newest=$(sed -n 's/.*"Programming Language :: Python :: 3\.\([0-9]*\)".*/\1/p' pyproject.toml | sort -n | tail -n 1)

# The first that runs and can build environments: from PATH, then from pyenv (whose command on PATH may be inactive).
find_python() {
    local minor candidate
    local versions="${PYENV_ROOT:-$(pyenv root 2>/dev/null || echo "$HOME/.pyenv")}/versions"
    for ((minor = newest; minor > oldest; minor--)); do
        for candidate in "python3.$minor" "$versions"/3."$minor".*/bin/python; do
            if "$candidate" -c "import ensurepip, sys; sys.exit(sys.version_info[:2] != (3, $minor))" 2>/dev/null; then
                echo "$candidate"
                return
            fi
        done
    done
}

python=${1:-$(find_python)}
if [ -z "$python" ]; then
    echo "smoke: no Python from 3.$((oldest + 1)) to 3.$newest is installed here, so nothing was tried on a newer one."
    exit 0
fi
version=$("$python" -c 'import platform; print(platform.python_version())')
echo "smoke: the wheel on Python $version"

unset PYTHONPATH # it would come before the wheel
export PIP_DISABLE_PIP_VERSION_CHECK=1 OPTMODELS_QUIET=1
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1

stamp="$version $(cksum <requirements.lock)"
if [ "$(cat $venv/.ready 2>/dev/null || true)" != "$stamp" ]; then
    rm -rf $venv
    "$python" -m venv $venv
    # Most of what is installed is never imported here, so nothing is compiled beforehand.
    $venv/bin/python -m pip install --quiet --no-compile --require-hashes -r requirements.lock
    echo "$stamp" >$venv/.ready
fi
bin=$PWD/$venv/bin

# From a copy: a build leaves files beside the sources.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/sources" "$work/elsewhere"
cp -R optmodels heuristics queueing instances pyproject.toml LICENSE README.md "$work/sources"
"$bin/python" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$work" "$work/sources"
"$bin/python" -m pip install --quiet --no-deps --no-index --force-reinstall "$work"/optmodels-*.whl

# Elsewhere, so that the packages come from the wheel and not from this folder.
instances=$PWD/instances
solve() { "$bin/optmodels" solve "$instances/$1.json" --strategy "$2" --seconds 60; }
(
    cd "$work/elsewhere"
    "$bin/python" -c 'import optmodels, sys; p = optmodels.__file__; p.startswith(sys.prefix) or sys.exit(f"not the wheel: {p}")'
    "$bin/optmodels" list
    solve placement/gautam-2x3 highs
    solve threshold/avrachenkov-k3 exhaustive
    solve robots/talim-two-robots policy-iteration
    solve freshness/coffman-4 lagrangian
    solve routing/loss-3 min-mean-cycle
)

# In an empty folder of its own, too.
"$bin/python" tools/readme_commands.py README.md "$bin/optmodels"

# The command `pytest`, not `python -m pytest`, which would import the packages of this folder.
conformance='test_strategies and (lagrangian or highs) and not compiling'
golden='test_golden and placement'
"$bin/pytest" -q -p no:cacheprovider tests/conformance/test_strategies.py tests/golden/test_golden.py \
    -k "($conformance) or ($golden)"
echo "smoke: all well on Python $version"
