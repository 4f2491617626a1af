# bench, libkerf_kernels and what a program needs to call it. Headers keep their paths: #include "kernels/kernel.h".

install(TARGETS bench RUNTIME)
install(TARGETS kerf_kernels kerf_kernels_shared ARCHIVE LIBRARY)
install(DIRECTORY base kernels DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kerf
        FILES_MATCHING PATTERN "*.h" PATTERN "kernels/variants" EXCLUDE PATTERN cases EXCLUDE)

set(KERF_PRIVATE_LIBS "-lstdc++ -lm -lpthread")
if(KERF_HAVE_NVCC)
    string(APPEND KERF_PRIVATE_LIBS " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
endif()
configure_file(cmake/kerf.pc.in kerf.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/kerf.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
