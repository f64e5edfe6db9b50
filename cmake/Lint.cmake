# Targets for people: format, format-check, tidy, cppcheck, coverage-report.
#
# Only tracked kinds of files in our folders are looked at; generated files and fetched grammars
# lie in the build tree and are never formatted or linted.

file(GLOB_RECURSE ced_files CONFIGURE_DEPENDS
	proto/*.[ch] daemon/*.[ch] sandbox/*.[ch] store/*.[ch] cli/*.[ch] clients/*.[ch]
	tests/*.[ch] bench/*.[ch] examples/*.[ch])
file(GLOB_RECURSE ced_sources CONFIGURE_DEPENDS
	proto/*.c daemon/*.c sandbox/*.c store/*.c cli/*.c)

add_custom_target(format
	COMMAND clang-format-14 -i ${ced_files}
	WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} VERBATIM)
add_custom_target(format-check
	COMMAND clang-format-14 --dry-run --Werror ${ced_files}
	WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} VERBATIM)

# Run it in the clang build, whose database holds only flags that clang knows.
# Here, too, because a first configuration reads this file before those of tests/.
find_program(CED_SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)

add_custom_target(tidy
	COMMAND ${CED_SYSTEM_PYTHON} ${CMAKE_SOURCE_DIR}/tests/lint/tidy.py ${CMAKE_BINARY_DIR}
	WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} VERBATIM)

# cppcheck 2.10 does not understand cleanup attributes (leaks and unread values), container_of
# (typeof), callbacks whose signature is given (constParameter), negative characters and
# descriptors where a library takes an int (invalidFunctionArg), or tables made by macros
# (syntaxError; the compilers know better).  readdir is safe in glibc, the spawner, who asks
# getpwnam, has one thread, and we declare at the top of a block (variableScope).  It knows a
# processor only when told.
set(ced_cppcheck_silent missingIncludeSystem unusedStructMember memleak resourceLeak
	unreadVariable redundantInitialization constParameter invalidFunctionArg syntaxError
	readdirCalled getpwnamCalled variableScope)
list(TRANSFORM ced_cppcheck_silent PREPEND --suppress=)
cmake_host_system_information(RESULT ced_cores QUERY NUMBER_OF_LOGICAL_CORES)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/cppcheck)   # what was found in each file, by its content
add_custom_target(cppcheck
	COMMAND cppcheck --quiet --error-exitcode=1 --std=c11 --library=posix --inline-suppr
		-j ${ced_cores} --cppcheck-build-dir=${CMAKE_BINARY_DIR}/cppcheck --enable=warning,style,performance,portability
		-I ${CMAKE_SOURCE_DIR} -I ${CED_GENERATED_DIR} ${ced_cppcheck_silent}
		"-D__typeof__(x)=void" -D__${CMAKE_SYSTEM_PROCESSOR}__=1 -D_GNU_SOURCE=1 ${ced_sources}
	COMMENT "cppcheck"
	WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} VERBATIM)

add_custom_target(coverage-report
	COMMAND gcovr -r ${CMAKE_SOURCE_DIR} --exclude tests/ --exclude build/ --exclude-throw-branches
		--fail-under-line 85 --print-summary ${CMAKE_BINARY_DIR}
	WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} VERBATIM)
