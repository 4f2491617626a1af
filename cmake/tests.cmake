# Tests are C files; one program holds them all, and ctest sees each case of it. tests/tests.def lists the tables.

find_package(Catch2 REQUIRED)
kerf_read_def(rows tests/tests.def "KERF_TESTS")
foreach(row IN LISTS rows)
    string(REGEX REPLACE "^KERF_TESTS:(.*)\\+(.*)$" "tests/\\1/\\2.c" file ${row})
    if(NOT EXISTS ${CMAKE_SOURCE_DIR}/${file})
        message(FATAL_ERROR "tests/tests.def: ${row} needs the file ${file}")
    endif()
endforeach()

file(GLOB sources CONFIGURE_DEPENDS tests/*/*.c tests/*/*.cc)
list(FILTER sources EXCLUDE REGEX "/tests/fuzz/") # programs of their own, for libFuzzer
kerf_program(kerf_tests kerf_exact tests/main.c tests/catch_shim.cc ${sources})
target_link_libraries(kerf_tests PRIVATE kerf_harness Catch2::Catch2)
target_compile_definitions(kerf_tests PRIVATE KERF_TEST_BENCH="$<TARGET_FILE:bench>"
                           KERF_TEST_SOURCE="${CMAKE_SOURCE_DIR}"
                           KERF_TEST_PLANTED="${CMAKE_BINARY_DIR}/planted.so")
add_dependencies(kerf_tests bench planted kerf_peers kerf_kernels_shared)

# The planted wrong kernels as a plug-in, to see on the command line that they are found. The functions of base/ are the
# program's that loads it.
add_library(planted MODULE tests/planted/kernels_real32.c tests/planted/kernels_real64.c tests/planted/forward_real32.c
            tests/planted/forward_real64.c tests/planted/conv2d_real32.c
            tests/planted/conv2d_real64.c tests/planted/rows.c
            tests/planted/timed.c tests/planted/claims.c tests/planted/tuned.c)
target_link_libraries(planted PRIVATE kerf_exact)
set_target_properties(planted PROPERTIES PREFIX "")

include(Catch)
catch_discover_tests(kerf_tests PROPERTIES TIMEOUT 300)

add_test(NAME "docs: add-a-variant.md does what it says" COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/add_a_variant.sh)
set_tests_properties("docs: add-a-variant.md does what it says" PROPERTIES LABELS slow TIMEOUT 300)

add_test(NAME "docs: the tests of known-faults.md are there" COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/known_faults.sh
                                                                  $<TARGET_FILE:kerf_tests>)

# A library with sanitizers cannot be loaded into Python.
if(NOT KERF_SANITIZE)
    add_test(NAME "peers: our side without any peer" COMMAND ${CMAKE_SOURCE_DIR}/tests/cli/peers.sh)
    set_tests_properties("peers: our side without any peer" PROPERTIES TIMEOUT 120
                         ENVIRONMENT "KERF_BUILD_DIR=${CMAKE_BINARY_DIR}")
endif()
