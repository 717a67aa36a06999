#!/usr/bin/env bash
# Every shader text that tests have given to the driver is valid GLSL to the Khronos reference compiler, glslang.
#   tests/local/validate_shaders.sh FOLDER
set -euo pipefail
shopt -s nullglob
shaders=("$1"/*.comp "$1"/*.frag "$1"/*.vert)
[ ${#shaders[@]} -ge 50 ] || { echo "$1 has only ${#shaders[@]} shaders: remove it, run the tests of OpenGL" >&2; exit 1; }
if ! messages=$(printf '%s\n' "${shaders[@]}" | xargs -n 100 glslangValidator); then
  grep 'ERROR' <<<"$messages" | head -40
  for shader in "${shaders[@]}"; do
    glslangValidator "$shader" >/dev/null || { echo "$shader:"; head -30 "$shader"; break; }
  done
  rm -rf "${1:?}"/*  # with the program cache: the next run compiles all again
  exit 1
fi
echo "${#shaders[@]} shaders are valid"
