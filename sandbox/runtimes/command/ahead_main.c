/*
 * ced-ahead.so: see ahead.h.  It takes the place of the C library's function that calls main().
 */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "sandbox/child_exit.h"
#include "sandbox/runtimes/command/ahead.h"
#include "sandbox/runtimes/command/constructors.h"
#include "sandbox/runtimes/command/run_program.h"
#include "sandbox/worker/worker.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* A larger segment is mostly memory that few programs touch, and fills the memory of a worker. */
#define SEGMENT_BYTES_MAX ((uintptr_t)1 << 20)

#define OURS __attribute__((visibility("default")))

typedef int main_function(int argc, char **argv, char **env);
typedef int start_function(main_function *main, int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*loader_fini)(void), void *stack_end);

/* What the loader and the C library have read already, before the job came. */
static const char *const read_at_start[] = { "LD_", "GLIBC_TUNABLES=", "MALLOC_" };

static bool is_read_at_start(char *const *env)
{
	for (; *env; env++)
		for (size_t i = 0; i < COUNT_OF(read_at_start); i++)
			if (strncmp(*env, read_at_start[i], strlen(read_at_start[i])) == 0)
				return true;
	return false;
}

static size_t count_of(char *const *list)
{
	size_t count = 0;

	while (list[count])
		count++;
	return count;
}

/* The environment that is configured: ours without the variable that has loaded this library. */
static void remove_own(char **env)
{
	char **to = env;

	for (; *env; env++)
		if (strncmp(*env, "LD_PRELOAD=", strlen("LD_PRELOAD=")) != 0)
			*to++ = *env;
	*to = NULL;
}

/* Arguments and environment in one block, as the kernel passes them.  *ret_argc: their count. */
static char **in_one_block(const struct process_start *start, int *ret_argc)
{
	const size_t args = count_of(start->argv);
	const size_t env = count_of(start->env);
	char **block = calloc(args + env + 2, sizeof(*block));

	if (!block)
		child_exit(127);
	memcpy(block, start->argv, args * sizeof(*block));
	memcpy(block + args + 1, start->env, env * sizeof(*block));
	*ret_argc = (int)args;
	return block;
}

/* What the loader has made read-only since it filled it in: the beginning of a segment that is written. */
static uintptr_t end_of_relro(const struct dl_phdr_info *object)
{
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (segment->p_type == PT_GNU_RELRO)
			return object->dlpi_addr + segment->p_vaddr + segment->p_memsz;
	}
	return 0;
}

/* Makes the pages that the interpreter and its libraries write to, while nobody waits (footprint.h). */
static int make_pages(struct dl_phdr_info *object, size_t size, void *context)
{
	const uintptr_t page = (uintptr_t)getpagesize();
	const uintptr_t relro = end_of_relro(object);

	(void)size;
	(void)context;
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		uintptr_t from = object->dlpi_addr + segment->p_vaddr;
		const uintptr_t to = from + segment->p_memsz;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_W) ||
			segment->p_memsz > SEGMENT_BYTES_MAX)
			continue;
		if (from < relro && relro <= to)
			from = relro;
		from &= ~(page - 1);
		/* an address of the loader's, as a number */
		if (madvise((void *)from, to - from, MADV_POPULATE_WRITE) == 0)
			for (; from < to; from += page)
				(void)*(const volatile char *)from;
	}
	return 0;
}

/* The job's arguments and environment. */
static char **take_job(char **argv, int *ret_argc)
{
	union {
		char **in;
		const char *const *out;
	} args = { argv + 1 }, env = { environ };
	struct process_start start;

	remove_own(environ);
	(void)dl_iterate_phdr(make_pages, NULL);
	if (fcntl(WORKER_JOB_FD, F_SETFD, FD_CLOEXEC) < 0)
		child_exit(1);
	run_program_take(
		&(struct command){ .interpreter = argv[0], .args = args.out, .env = env.out },
		&start);
	if (is_read_at_start(start.env))
		run_program_start(argv[0], &start);
	close(WORKER_JOB_FD);
	return in_one_block(&start, ret_argc);
}

__attribute__((noreturn)) static void answer_probe(const void *in_libc)
{
	if (constructors_have_run(in_libc))
		child_exit(1);
	child_exit(write(STDOUT_FILENO, AHEAD_ANSWER, strlen(AHEAD_ANSWER)) < 0);
}

/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming,readability-function-size): it is the C library's */

OURS int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*loader_fini)(void), void *stack_end);

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
	start_function *start;

	*(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
	if (!start)
		child_exit(127);
	if (argc == 2 && strcmp(argv[1], AHEAD_PROBE) == 0)
		answer_probe(*(const void **)&start);
	argv = take_job(argv, &argc);
	environ = argv + argc + 1;
	return start(main, argc, argv, init, fini, loader_fini, stack_end);
}

/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming,readability-function-size) */
