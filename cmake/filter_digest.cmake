# Writes OUTPUT: a header with the SHA-256 of what PROGRAM prints.
execute_process(COMMAND ${PROGRAM} OUTPUT_FILE ${OUTPUT}.bin RESULT_VARIABLE result)
if(result)
	message(FATAL_ERROR "${PROGRAM}: ${result}")
endif()
file(SHA256 ${OUTPUT}.bin digest)
file(WRITE ${OUTPUT} "/* Made by cmake/filter_digest.cmake. */\n#pragma once\n\n#define CED_FILTERS_DIGEST \"sha256:${digest}\"\n")
