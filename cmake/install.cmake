# bench, libkerf_kernels and what a program needs to call it. Headers keep their paths: #include "kernels/kernel.h".

set(headers ${CMAKE_INSTALL_INCLUDEDIR}/kerf)
install(TARGETS bench RUNTIME)
install(FILES reports/plot.py DESTINATION ${KERF_DATA_DIR})
install(TARGETS kerf_kernels kerf_kernels_shared ARCHIVE LIBRARY)
file(GLOB files CONFIGURE_DEPENDS base/*.h)
install(FILES ${files} DESTINATION ${headers}/base)
file(GLOB files CONFIGURE_DEPENDS kernels/*.h)
install(FILES ${files} DESTINATION ${headers}/kernels)
foreach(op IN LISTS ops)
    install(FILES kernels/${op}/${op}.h DESTINATION ${headers}/kernels/${op})
endforeach()

set(KERF_PRIVATE_LIBS "-lstdc++ -lm -lpthread")
if(KERF_HAVE_NVCC)
    string(APPEND KERF_PRIVATE_LIBS " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
endif()
# Relative to the file itself, so that an installed tree can be moved.
set(pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH KERF_PREFIX_FROM_PC /prefix/${pkgconfig} /prefix)
string(REGEX REPLACE "/$" "" KERF_PREFIX_FROM_PC ${KERF_PREFIX_FROM_PC})
configure_file(cmake/kerf.pc.in kerf.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/kerf.pc DESTINATION ${pkgconfig})
