# ced_hardening: what every shipped binary is built with (gcc 12 and clang 14, x86-64 and arm64).
# Instrument.cmake links it to everything unless a sanitizer is asked for.
#
# Assertions stay on in releases: -DNDEBUG appears nowhere.  -ftrivial-auto-var-init is a net
# under correct code; clang 14 wants an extra flag for `zero`, so only gcc has it.

include(CheckCCompilerFlag)
check_c_compiler_flag(-fcf-protection=full CED_HAS_CF_PROTECTION)

add_library(ced_hardening INTERFACE)
target_compile_options(ced_hardening INTERFACE
	-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
	-fstack-protector-strong -fstack-clash-protection -fno-strict-overflow
	-fno-delete-null-pointer-checks
	$<$<BOOL:${CED_HAS_CF_PROTECTION}>:-fcf-protection=full>
	$<$<C_COMPILER_ID:GNU>:-ftrivial-auto-var-init=zero -fzero-call-used-regs=used-gpr>)
target_link_options(ced_hardening INTERFACE
	-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,-z,separate-code -Wl,--as-needed)
