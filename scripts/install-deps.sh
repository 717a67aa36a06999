#!/usr/bin/env bash
# Installs what glinpack needs on Debian 12 or 13, and nothing that is there already. As root or through sudo.
#   scripts/install-deps.sh            to build and run
#   scripts/install-deps.sh --octave   to use the Octave package, too
#   scripts/install-deps.sh --python   to build the Python module, too
#   scripts/install-deps.sh --test     to run all tests, too
set -euo pipefail

packages=(
  # building
  cmake g++ git make ninja-build pkg-config
  # the Debian package
  dpkg-dev file
  # message passing, linear algebra, OpenGL without a display
  mpich libmpich-dev libopenblas-pthread-dev liblapacke-dev
  libegl-dev libopengl-dev libglew-dev libegl1 libegl-mesa0 libgl1-mesa-dri
  # Vulkan, and its shaders
  libvulkan-dev glslang-dev glslang-tools spirv-tools
  # libraries that serve better than our own code
  libcli11-dev libspdlog-dev nlohmann-json3-dev libtomlplusplus-dev libxxhash-dev libhwloc-dev
  libgtest-dev libgmock-dev libbenchmark-dev
  # the charts of glinpack report
  libjs-chart.js
)
# octave-dev has mkoctfile, for `pkg install`; it may turn mpicc and mpirun to Open MPI, but not mpicc.mpich
octave_packages=(octave octave-dev)
python_packages=(python3-dev python3-numpy pybind11-dev)
test_packages=(
  "${octave_packages[@]}"
  # the other compiler with its sanitizers, the other MPI, another BLAS
  clang libclang-rt-dev lld llvm openmpi-bin libopenmpi-dev libblis-pthread-dev
  # the Python module and its tests
  "${python_packages[@]}" python3-scipy python3-pytest
  # the system tests and what they read with
  python3 python3-jsonschema python3-matplotlib valgrind shellcheck man-db procps
  # models of protocols
  spin
  # what the pages of glinpack report are opened in
  chromium-headless-shell
  # the cluster in a box, scripts/netlab
  iproute2
  # a clean root for the Debian package
  debootstrap
  # Vulkan by the processor, and checks of its use
  libvulkan1 mesa-vulkan-drivers vulkan-validationlayers
  # Slurm on one machine, scripts/slurm/lab
  slurm-wlm munge
)

case "${1:-}" in
  "") ;;
  --octave) packages+=("${octave_packages[@]}") ;;
  --python) packages+=("${python_packages[@]}") ;;
  --test) packages+=("${test_packages[@]}") ;;
  *) echo "usage: scripts/install-deps.sh [--octave | --python | --test]" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "install-deps.sh: this system has no Debian packages; docs/getting-started.md lists the libraries" >&2
  exit 1
fi
missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install-deps.sh: these packages are missing, and there is neither root nor sudo to install them: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "Installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
