# Build type, languages, warnings, and the two kinds of floating-point rules. Everything is told per target.
# CMake 3.25 does not know that CUDA has C++20: the flag of both kinds of C++ is written out.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug (assertions on), RelWithDebInfo, Release" FORCE)
endif()
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

set(host "$<COMPILE_LANGUAGE:C,CXX>")
set(cuda "$<COMPILE_LANGUAGE:CUDA>")

add_library(kerf_common INTERFACE)
target_include_directories(kerf_common INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_definitions(kerf_common INTERFACE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE>)
target_compile_options(kerf_common INTERFACE "$<${host}:-Wall;-Wextra;-Wshadow;-Wvla>"
                       "$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>" "$<${cuda}:-Xcompiler=-Wall>"
                       "$<$<COMPILE_LANGUAGE:CXX,CUDA>:-std=c++20>")
if(KERF_WERROR)
    target_compile_options(kerf_common INTERFACE "$<${host}:-Werror>" "$<${cuda}:-Werror=all-warnings>")
endif()
if(KERF_SANITIZE)
    target_compile_options(kerf_common INTERFACE
        "$<${host}:-fsanitize=${KERF_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer>")
    # The libraries are linked by more than one target; all of them need the runtime.
    add_link_options(-fsanitize=${KERF_SANITIZE})
endif()

# Results that do not depend on the compiler's taste: no contraction (oracle, harness, conversions).
add_library(kerf_exact INTERFACE)
target_link_libraries(kerf_exact INTERFACE kerf_common)
target_compile_options(kerf_exact INTERFACE "$<${host}:-ffp-contract=off>")

# Variants: as fast as the compiler can without changing what a formula means. A debug build keeps its own level.
set(KERF_VARIANT_FLAGS "-O3 -ffp-contract=fast")
add_library(kerf_fast INTERFACE)
target_link_libraries(kerf_fast INTERFACE kerf_common)
target_compile_options(kerf_fast INTERFACE "$<${host}:-ffp-contract=fast>"
                       "$<$<AND:${host},$<NOT:$<CONFIG:Debug>>>:-O3>")

# kerf_objects|library|program(NAME RULES source...): RULES is kerf_exact or kerf_fast.
function(kerf_objects name rules)
    add_library(${name} OBJECT ${ARGN})
    target_link_libraries(${name} PRIVATE ${rules})
endfunction()

function(kerf_library name rules)
    add_library(${name} STATIC ${ARGN})
    target_link_libraries(${name} PRIVATE ${rules})
endfunction()

function(kerf_program name rules)
    add_executable(${name} ${ARGN})
    target_link_libraries(${name} PRIVATE ${rules})
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()
