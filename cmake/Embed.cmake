# ced_embed(target symbol files...) compiles files into `target` as one table of bytes:
#
#   ced_embed(ced_store migrations migrations/0010_first.sql migrations/0011_more.sql)
#
#   #include "proto/base/embedded.h"
#   extern const struct embedded migrations[];     the rows, ended by one with name == NULL
#
# A row's name is the file's own name without its folder; rows keep the order given.  Behind
# each file's bytes stands a NUL that is not counted in len.

configure_file(${CMAKE_SOURCE_DIR}/cmake/embedded.h.in
	${CED_GENERATED_DIR}/proto/base/embedded.h COPYONLY)

function(ced_embed target symbol)
	set(files)
	foreach(file ${ARGN})
		get_filename_component(file ${file} ABSOLUTE)
		list(APPEND files ${file})
	endforeach()
	set(output ${CMAKE_CURRENT_BINARY_DIR}/embed_${symbol}.c)
	add_custom_command(OUTPUT ${output}
		COMMAND ${CMAKE_COMMAND} -D SYMBOL=${symbol} -D "FILES=${files}" -D OUTPUT=${output}
			-P ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake
		DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake
		COMMENT "Embedding ${symbol}"
		VERBATIM)
	target_sources(${target} PRIVATE ${output})
endfunction()
