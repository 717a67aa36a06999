#!/usr/bin/env bash
# Every shader text that tests have given to the driver is valid GLSL to the Khronos reference compiler, glslang.
#   tests/local/validate_shaders.sh FOLDER
set -euo pipefail
shopt -s nullglob
shaders=("$1"/*.comp "$1"/*.frag "$1"/*.vert)
[ ${#shaders[@]} -ge 50 ] || { echo "$1 has only ${#shaders[@]} shaders: the tests of OpenGL run before" >&2; exit 1; }
printf '%s\n' "${shaders[@]}" | xargs -n 100 glslangValidator >"$1/glslang.txt" || {
  grep -B1 -A3 'ERROR' "$1/glslang.txt" | head -100
  exit 1
}
echo "${#shaders[@]} shaders are valid"
