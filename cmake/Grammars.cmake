# ced_treesitter: the tree-sitter core and the grammars of python, javascript and bash.
#
# They are fetched with npm as daemon/inspector/grammars/package-lock.json pins them, by content;
# npm runs none of their scripts.  The files lie in build/grammars/, which all presets share, so
# they are fetched once.  They are compiled in each preset with its instruments and hardening,
# because hostile text goes through them, but without our warnings: they are not our code.
# The inspector alone links this library.

set(CED_GRAMMARS_DIR ${CMAKE_SOURCE_DIR}/build/grammars CACHE PATH
	"where the fetched grammars lie; may be shared between build trees")
set(pins ${CMAKE_SOURCE_DIR}/daemon/inspector/grammars)
set(modules ${CED_GRAMMARS_DIR}/node_modules)
set(core ${modules}/tree-sitter/vendor/tree-sitter/lib)

set(sources ${core}/src/lib.c)
foreach(language python javascript bash)
	list(APPEND sources
		${modules}/tree-sitter-${language}/src/parser.c
		${modules}/tree-sitter-${language}/src/scanner.c)
endforeach()

ced_npm(${CED_GRAMMARS_DIR} ${pins} "Fetching the grammars" ${sources})

add_library(ced_treesitter STATIC EXCLUDE_FROM_ALL ${sources})
target_include_directories(ced_treesitter SYSTEM INTERFACE ${core}/include)
target_include_directories(ced_treesitter PRIVATE ${core}/src ${core}/include)
target_compile_options(ced_treesitter PRIVATE -O2 -w
	$<$<BOOL:${CED_ANALYZE}>:-fno-analyzer>)
