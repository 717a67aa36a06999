# The page of `glinpack report`, in one piece: page.html with page.css, Chart.js and the scripts.
#
#   glinpack_embed_page(TARGET FOLDER)     adds a generated source file with the page under FOLDER to TARGET
#
# The generated file defines glinpack::app::page_template.
find_file(GLINPACK_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist
          DOC "Chart.js 3, minified: Debian's libjs-chart.js")

# The source of a content security policy that allows an inline element with this text: 'sha256-BASE64'.
function(glinpack_policy_hash text result)
  set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(SHA256 hash "${text}")
  set(base64)
  foreach(place RANGE 0 63 6)  # six hexadecimal digits are four of base64; the last four are three and a filler
    string(SUBSTRING "${hash}00" ${place} 6 group)
    math(EXPR bits "0x${group}")
    foreach(shift 18 12 6 0)
      math(EXPR digit "(${bits} >> ${shift}) & 63")
      string(SUBSTRING ${digits} ${digit} 1 digit)
      string(APPEND base64 "${digit}")
    endforeach()
  endforeach()
  string(SUBSTRING "${base64}" 0 43 base64)
  set(${result} "'sha256-${base64}='" PARENT_SCOPE)
endfunction()

function(glinpack_embed_page target folder)
  set(page)
  if(GLINPACK_CHART_JS)
    set(scripts ${folder}/parts.js ${folder}/page.js)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                 ${folder}/page.html ${folder}/page.css ${scripts} ${GLINPACK_CHART_JS})
    file(READ ${GLINPACK_CHART_JS} CHART)
    if(NOT CHART MATCHES "Chart\\.js v3\\.")
      message(FATAL_ERROR "${GLINPACK_CHART_JS} is not Chart.js 3, which the page of `glinpack report` needs. "
                          "Debian's libjs-chart.js is; -DGLINPACK_CHART_JS=OFF builds without the page")
    endif()
    file(READ ${folder}/page.css STYLE)
    set(SCRIPT)
    foreach(script IN LISTS scripts)
      file(READ ${script} text)
      string(APPEND SCRIPT "${text}")
    endforeach()
    glinpack_policy_hash("${CHART}" CHART_HASH)
    glinpack_policy_hash("${STYLE}" STYLE_HASH)
    glinpack_policy_hash("${SCRIPT}" SCRIPT_HASH)
    set(DATA @DATA@)  # report_command.cpp puts the results here
    file(READ ${folder}/page.html page)
    string(CONFIGURE "${page}" page @ONLY)
  else()
    message(STATUS "Chart.js is missing: glinpack is built without the page of `glinpack report`. Debian has it in "
                   "libjs-chart.js; -DGLINPACK_CHART_JS=FILE names another chart.min.js of version 3")
  endif()
  set(output ${CMAKE_CURRENT_BINARY_DIR}/page_template.cpp)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [[
#include "app/report/report_command.hpp"

namespace glinpack::app {

const std::string_view page_template = R"PAGE(@page@)PAGE";

}  // namespace glinpack::app
]])
  target_sources(${target} PRIVATE ${output})
  set_source_files_properties(${output} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
