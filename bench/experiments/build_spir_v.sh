#!/bin/sh
# Builds the SPIR-V modules of the experiments: build_spir_v.sh DIRECTORY
# Needs glslang 15 (Debian 13: glslang-tools). Debian 12's glslang 12 lacks GL_KHR_cooperative_matrix. GLSLANG names
# another program.
set -eu
here=$(dirname "$0")
out=${1:?usage: build_spir_v.sh DIRECTORY}
glslang=${GLSLANG:-glslang}

vulkan() { # SOURCE MODULE MACROS...
  source=$1
  module=$2
  shift 2
  "$glslang" -V --target-env vulkan1.3 --quiet "$@" "$here/$source.comp" -o "$out/$module.spv"
}

vulkan matrix_subgroup subgroup -DELEMENT=float16_t -DPACKED=1 -DOUTPUT=float
vulkan matrix_subgroup subgroup_half_sums -DELEMENT=float16_t -DPACKED=1 -DOUTPUT=float16_t
vulkan matrix_subgroup subgroup_packed -DELEMENT=uvec4 -DPACKED=8 -DOUTPUT=float
vulkan matrix_subgroup subgroup_packed_small -DELEMENT=uvec4 -DPACKED=8 -DOUTPUT=float -DTILES_M=2 -DTILES_N=4
vulkan matrix_workgroup workgroup
shared() { # MODULE GROUP_M GROUP_N DEPTH SUBGROUPS_M SUBGROUPS_N
  vulkan matrix_shared "$1" -DGROUP_M="$2" -DGROUP_N="$3" -DDEPTH="$4" -DSUBGROUPS_M="$5" -DSUBGROUPS_N="$6"
}
shared shared_128x128x32_8 128 128 32 2 4
shared shared_128x128x32_4 128 128 32 2 2
shared shared_128x256x16_8 128 256 16 2 4
shared shared_256x128x16_8 256 128 16 4 2
"$glslang" -G --target-env opengl --quiet "$here/half_rate.comp" -o "$out/half_rate.spv"
"$glslang" -G --target-env opengl --target-env spirv1.3 --quiet "$here/gl_matrix.comp" -o "$out/gl_matrix_half.spv"
