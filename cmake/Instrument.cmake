# Sanitizers, coverage, fuzzing and -fanalyzer, each behind its option.  A preset sets the
# options; nobody else needs to.

if(CED_FUZZ AND NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
	message(FATAL_ERROR "CED_FUZZ needs clang: use the preset `fuzz`")
endif()

if(CED_FUZZ)
	add_compile_options(-fsanitize=fuzzer-no-link,address,undefined
		-fno-sanitize-recover=all -fno-omit-frame-pointer)
	add_link_options(-fsanitize=address,undefined)
elseif(CED_SANITIZE)
	list(JOIN CED_SANITIZE "," sanitizers)
	add_compile_options(-fsanitize=${sanitizers}
		-fno-sanitize-recover=all -fno-omit-frame-pointer)
	add_link_options(-fsanitize=${sanitizers})
elseif(CED_HARDEN)
	# The flags need an optimiser and disturb the sanitizers' own checks, hence the else.
	link_libraries(ced_hardening)
endif()

if(CED_COVERAGE)
	# atomic, because there are threads; a forked child flushes its counters in child_exit().
	add_compile_options(--coverage -fprofile-update=atomic)
	add_link_options(--coverage)
	add_compile_definitions(CED_COVERAGE)
endif()

if(CED_ANALYZE)
	# gcc 12 loses memory handed to libuv inside a request; Warnings.cmake drops -Werror.
	add_compile_options(-fanalyzer -Wno-analyzer-malloc-leak)
endif()
