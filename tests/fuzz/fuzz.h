/* What every fuzz target defines: it takes any bytes, does no harm and returns 0. */

#ifndef CED_TESTS_FUZZ_FUZZ_H
#define CED_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* What a target may define that has to be made before the first input. */
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

#endif
