/* Defined by every fuzz target: accepts any bytes, does no harm and returns 0. */

#ifndef CED_TESTS_FUZZ_FUZZ_H
#define CED_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Optional: a target creates here what it needs before the first input. */
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

#endif
