#!/bin/sh
# Compiles the shaders of cooperative matrices: shaders/matrix/*.comp to the .spv beside them. Debian 12's glslang is
# too old for them, so that the .spv are kept with the sources.
#   scripts/matrix_shaders.sh            writes them
#   scripts/matrix_shaders.sh --check    compares them; ends with code 77 without glslang 15
# GLSLANG names the compiler (Debian 13: glslang-tools).
set -eu
folder=$(cd "$(dirname "$0")/../shaders/matrix" && pwd)
glslang=${GLSLANG:-glslang}
version=$("$glslang" --version 2>/dev/null | sed -n 's/^Glslang Version: [0-9]*:\([0-9]*\).*/\1/p')
if [ "${version:-0}" -lt 15 ]; then
  [ "${1:-}" = --check ] && { echo "no glslang 15: nothing is compared"; exit 77; }
  echo "$glslang is not glslang 15 or later: set GLSLANG" >&2
  exit 1
fi
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
for source in "$folder"/*.comp; do
  name=$(basename "$source" .comp).spv
  "$glslang" -V --target-env vulkan1.2 --quiet "-I$folder/.." "$source" -o "$made/$name"
  if [ "${1:-}" = --check ]; then
    cmp "$made/$name" "$folder/$name" || { echo "$name is not $source's: run scripts/matrix_shaders.sh" >&2; exit 1; }
  else
    cp "$made/$name" "$folder/$name"
  fi
done
