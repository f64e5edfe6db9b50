/*
 * The interpreters of 319: each says how and with what it was started, and does not look at its program.
 *
 *	OWN_BYTES      has so many bytes of memory that it does not touch
 *	OWN_EARLY      is linked with own_library.c
 *	OWN_ALLOCATOR  has an allocator that cannot be used before main()
 */
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef OWN_EARLY
#include "tests/scenario/own_library.h"
#else
static const char *own_library_word(void)
{
	return "no library";
}
#endif

#ifdef OWN_BYTES
static volatile char untouched[OWN_BYTES];
#else
static volatile char untouched[1];
#endif

#ifdef OWN_ALLOCATOR
static bool is_ready;
static _Alignas(max_align_t) char pool[1 << 20];
static size_t used;

void *malloc(size_t size)
{
	const size_t unit = sizeof(max_align_t);
	const size_t at = used;

	if (!is_ready)
		abort();
	used += (size + unit - 1) / unit * unit;
	return used <= sizeof(pool) ? pool + at : NULL;
}

void *calloc(size_t count, size_t size)
{
	return malloc(count * size); /* the pool is zero, and nothing in it is used twice */
}

void *realloc(void *old, size_t size)
{
	void *bytes = malloc(size);

	return bytes && old ? memmove(bytes, old, size) : bytes;
}

void free(void *bytes)
{
	(void)bytes;
}
#endif

static int is_of_ours(struct dl_phdr_info *object, size_t size, void *context)
{
	(void)size;
	(void)context;
	return strstr(object->dlpi_name, "ced-ahead.so") != NULL;
}

/* Fills its memory, without the file that came with it, and says after each MiB how many it has. */
static void fill(void)
{
	static volatile char *kept;

	(void)unlink("large");
	for (size_t count = 1; count <= 100; count++) {
		kept = malloc((size_t)1 << 20);
		if (!kept)
			return;
		for (size_t i = 0; i < (size_t)1 << 20; i += 1024)
			kept[i] = 1;
		printf("%zu\n", count);
		(void)fflush(stdout);
	}
}

/* What programs take for granted of what the kernel passes. */
static void look_at_layout(int argc, char **argv, char **env)
{
	const long *count = (const long *)argv - 1;
	const Elf64_auxv_t *auxv;
	const char *end = argv[0];
	char **all = argv;
	int holes = 0;

	while (all < env || *all) {
		holes += *all && *all != end;
		end = *all ? *all + strlen(*all) + 1 : end;
		all++;
	}
	for (auxv = (const Elf64_auxv_t *)(all + 1); auxv->a_type != AT_NULL; auxv++)
		if (auxv->a_type == AT_PAGESZ)
			printf("page %lu, ", auxv->a_un.a_val);
	printf("%d holes, %s\n", holes,
		*count == argc && env == argv + argc + 1 && env == environ ? "count" : "no count");
}

int main(int argc, char **argv, char **env)
{
#ifdef OWN_ALLOCATOR
	is_ready = true;
#endif
	if (strcmp(argv[argc - 1], "fill") == 0)
		fill();
	if (strcmp(argv[argc - 1], "layout") == 0)
		look_at_layout(argc, argv, env);
	printf("%s %s, early: %s, %d\n", argv[argc - 1],
		dl_iterate_phdr(is_of_ours, NULL) ? "ahead" : "anew", own_library_word(),
		untouched[0]);
	return 0;
}
