# Shader sources, and SPIR-V, as string literals, verbatim.
#
#   glinpack_embed_shaders(TARGET FOLDER)     adds a generated source file with every file under FOLDER to TARGET
#   cmake -DFOLDER=... -DOUTPUT=... -P EmbedShaders.cmake     writes that file (run by the build)
#
# The generated file defines glinpack::embedded_shaders(), see src/local/device/shader_source.hpp.

function(glinpack_embed_shaders target folder)
  file(GLOB_RECURSE shader_files CONFIGURE_DEPENDS ${folder}/*.comp ${folder}/*.vert ${folder}/*.frag ${folder}/*.glsl
       ${folder}/*.spv)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_shaders.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DOUTPUT=${output} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    DEPENDS ${shader_files} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    COMMENT "Embedding shaders"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  file(GLOB_RECURSE shader_files RELATIVE ${FOLDER} ${FOLDER}/*.comp ${FOLDER}/*.vert ${FOLDER}/*.frag ${FOLDER}/*.glsl
       ${FOLDER}/*.spv)
  list(SORT shader_files)
  set(text "#include \"device/shader_source.hpp\"\n\nnamespace glinpack {\n\n")
  string(APPEND text "const std::vector<EmbeddedShader>& embedded_shaders() {\n")
  string(APPEND text "  static const std::vector<EmbeddedShader> shaders{\n")
  foreach(name IN LISTS shader_files)
    if(name MATCHES "\\.spv$")
      file(SIZE ${FOLDER}/${name} size)
      file(READ ${FOLDER}/${name} source HEX)
      string(REGEX REPLACE "(..)" "\\\\x\\1" source "${source}")
      string(APPEND text "      {\"${name}\", {\"${source}\", ${size}}},\n")
    else()
      file(READ ${FOLDER}/${name} source)
      string(APPEND text "      {\"${name}\", R\"GLSL(${source})GLSL\"},\n")
    endif()
  endforeach()
  string(APPEND text "  };\n  return shaders;\n}\n\n}  // namespace glinpack\n")
  file(WRITE ${OUTPUT} "${text}")
endif()
