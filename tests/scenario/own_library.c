/* A library of 319, which reads the environment before the main() of its program: as OpenMP's does. */
#include "tests/scenario/own_library.h"

#include <stdlib.h>

static const char *word;

__attribute__((constructor)) static void read_word(void)
{
	word = getenv("OWN_WORD");
}

const char *own_library_word(void)
{
	return word ? word : "nothing";
}
