/*
 * Writes the zygotes' initial filter to stdout, in the kernel's format.  warm.py, which plays the
 * spawner, loads it.
 */
#include <stdio.h>
#include <unistd.h>

#include "proto/base/fdio.h"
#include "sandbox/filter/seccomp.h"

int main(void)
{
	struct filter filter;
	struct err err = ERR_INIT;
	int result;

	if (filter_build(FILTER_ZYGOTE, &filter, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	result = write_all(STDOUT_FILENO, filter.code, filter.len * sizeof(*filter.code), &err);
	filter_done(&filter);
	return result < 0;
}
