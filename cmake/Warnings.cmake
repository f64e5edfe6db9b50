# ced_warnings: what every file of ours must compile without a word about, with gcc and clang.
# ced_library() and ced_program() link it; a target made by hand must link it too.

add_library(ced_warnings INTERFACE)
target_compile_options(ced_warnings INTERFACE
	-Wall -Wextra $<$<NOT:$<BOOL:${CED_ANALYZE}>>:-Werror>
	-Wcast-qual -Wconversion -Wsign-conversion -Wformat=2 -Wimplicit-fallthrough
	-Wmissing-prototypes -Wnull-dereference -Wpointer-arith -Wshadow -Wstrict-prototypes
	-Wswitch-enum -Wundef -Wvla -Wwrite-strings
	$<$<C_COMPILER_ID:GNU>:-Wduplicated-branches -Wduplicated-cond -Wlogical-op>
	$<$<AND:$<C_COMPILER_ID:GNU>,$<NOT:$<BOOL:${CED_SANITIZE}>>>:-Wstack-usage=16384>
	$<$<C_COMPILER_ID:Clang>:-Wcomma -Wunreachable-code-aggressive -Wgnu-empty-initializer>)
