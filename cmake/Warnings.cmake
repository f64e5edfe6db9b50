# ced_warnings: what every file of ours must compile without a word about, with gcc and clang.
# ced_library() and ced_program() link it; a target made by hand must link it too.
#
# Under a sanitizer, gcc sees null pointers on paths that only the sanitizer's own code makes, and
# frames are larger than they ever are in truth; both warnings rest there.

add_library(ced_warnings INTERFACE)
target_compile_options(ced_warnings INTERFACE
	-Wall -Wextra $<$<NOT:$<BOOL:${CED_ANALYZE}>>:-Werror>
	-Wcast-qual -Wconversion -Wsign-conversion -Wformat=2 -Wimplicit-fallthrough
	-Wmissing-prototypes -Wpointer-arith -Wshadow -Wstrict-prototypes
	-Wswitch-enum -Wundef -Wvla -Wwrite-strings
	$<$<C_COMPILER_ID:GNU>:-Wduplicated-branches -Wduplicated-cond -Wlogical-op>
	$<$<NOT:$<BOOL:${CED_SANITIZE}>>:-Wnull-dereference>
	$<$<AND:$<C_COMPILER_ID:GNU>,$<NOT:$<BOOL:${CED_SANITIZE}>>>:-Wstack-usage=16384>
	$<$<C_COMPILER_ID:Clang>:-Wcomma -Wunreachable-code-aggressive -Wgnu-empty-initializer>)
