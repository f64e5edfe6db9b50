# The two ways a target of ours is made.  Both link ced_warnings, so nothing is forgotten.
#
#   ced_library(ced_store SOURCES store.c audit.c LIBS ced_proto PkgConfig::SQLITE3)
#   ced_program(cectl SOURCES main.c LIBS ced_proto)                    -> bin/cectl
#   ced_program(ced LIBEXEC SOURCES main.c LIBS ced_daemon)             -> libexec/ced/ced
#
# A library's LIBS are public: who links the library gets them too.

function(ced_library name)
	cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
	add_library(${name} STATIC ${arg_SOURCES})
	target_link_libraries(${name} PRIVATE ced_warnings PUBLIC ${arg_LIBS})
endfunction()

function(ced_program name)
	cmake_parse_arguments(PARSE_ARGV 1 arg "LIBEXEC" "" "SOURCES;LIBS")
	add_executable(${name} ${arg_SOURCES})
	target_link_libraries(${name} PRIVATE ced_warnings ${arg_LIBS})
	if(arg_LIBEXEC)
		set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CED_LIBEXEC_DIR})
		install(TARGETS ${name} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/ced)
	else()
		install(TARGETS ${name} DESTINATION ${CMAKE_INSTALL_BINDIR})
	endif()
endfunction()

# ced_libexec_files(python zygote.py ...) copies files to libexec/ced/python/ in the build tree,
# whenever they change, and installs them to the same place.
function(ced_libexec_files folder)
	set(copies)
	foreach(file ${ARGN})
		get_filename_component(source ${file} ABSOLUTE)
		get_filename_component(base ${file} NAME)
		set(copy ${CED_LIBEXEC_DIR}/${folder}/${base})
		add_custom_command(OUTPUT ${copy}
			COMMAND ${CMAKE_COMMAND} -E copy ${source} ${copy}
			DEPENDS ${source} VERBATIM)
		list(APPEND copies ${copy})
		install(FILES ${source} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/ced/${folder})
	endforeach()
	string(MAKE_C_IDENTIFIER "libexec_${folder}" target)
	add_custom_target(${target} ALL DEPENDS ${copies})
endfunction()

# Links a program with everything it needs, at a random address.  CMake would add -pie, which undoes it.
function(ced_link_statically name)
	set_property(TARGET ${name} PROPERTY POSITION_INDEPENDENT_CODE)
	target_compile_options(${name} PRIVATE -fPIE)
	target_link_options(${name} PRIVATE -static-pie)
endfunction()
