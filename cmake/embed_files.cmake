# The build step behind ced_embed(): reads FILES, writes OUTPUT with the table SYMBOL.

set(arrays "")
set(rows "")
set(index 0)
foreach(file ${FILES})
	file(READ ${file} hex HEX)
	string(LENGTH "${hex}" digits)
	math(EXPR len "${digits} / 2")
	string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
	get_filename_component(name ${file} NAME)
	string(APPEND arrays "static const unsigned char file_${index}[] = {\n${bytes}\n0x00};\n\n")
	string(APPEND rows "\t{ \"${name}\", file_${index}, ${len} },\n")
	math(EXPR index "${index} + 1")
endforeach()

file(WRITE ${OUTPUT} "/* Made by cmake/embed_files.cmake; do not edit. */\n\n"
	"#include \"proto/base/embedded.h\"\n\n"
	"${arrays}"
	"extern const struct embedded ${SYMBOL}[];\n"
	"const struct embedded ${SYMBOL}[] = {\n${rows}\t{ NULL, NULL, 0 },\n};\n")
