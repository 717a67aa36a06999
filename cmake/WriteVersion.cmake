# Writes version.cpp with the commit of the tree, and only when that has changed: cmake -P, at every build.
# root may build what somebody else has checked out
execute_process(COMMAND git -c safe.directory=${SOURCE_DIR} -C ${SOURCE_DIR} describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  set(commit "unknown")
endif()
configure_file(${SOURCE_DIR}/src/version.cpp.in ${OUTPUT} @ONLY)
