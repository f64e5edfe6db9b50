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
#include "sandbox/worker/joblink.h"
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

/* The environment that is configured: ours without the variable that has loaded this library. */
static void remove_own(char **env)
{
	char **to = env;

	for (; *env; env++)
		if (strncmp(*env, "LD_PRELOAD=", strlen("LD_PRELOAD=")) != 0)
			*to++ = *env;
	*to = NULL;
}

/* ---- what the kernel passes ----------------------------------------------------------------- */

/* Pointers with the NULL at their end, and the bytes of their texts. */
struct size {
	size_t pointers, bytes;
};

static struct size size_of(char *const *list)
{
	struct size size = { .pointers = 1 };

	for (; *list; list++) {
		size.pointers++;
		size.bytes += strlen(*list) + 1;
	}
	return size;
}

/* Behind the environment; it ends with an entry of zero. */
static const Elf64_auxv_t *auxv_behind(char **env)
{
	return (const Elf64_auxv_t *)(env + size_of(env).pointers);
}

static size_t auxv_bytes(const Elf64_auxv_t *auxv)
{
	size_t count = 1;

	while (auxv[count - 1].a_type != AT_NULL)
		count++;
	return count * sizeof(*auxv);
}

/* Moves a list to `to`, and its texts to `text`.  Returns the end of the texts. */
static char *move_texts(char **list, char **to, char *text)
{
	for (char **from = list; *from; from++) {
		*to++ = text;
		text = stpcpy(text, *from) + 1;
		free(*from);
	}
	free(list);
	return text;
}

/*
 * One block as on the stack of a new process: the count of arguments, they, the environment, the auxiliary
 * vector, and then the texts, one behind the other.  Programs rely on each of this.  Takes the lists.
 * Returns the arguments, or NULL.
 */
static char **as_kernel_passes(
	const struct process_start *start, const Elf64_auxv_t *auxv, int *ret_argc)
{
	const struct size args = size_of(start->argv);
	const struct size env = size_of(start->env);
	const size_t auxv_size = auxv_bytes(auxv);
	const size_t pointers = (1 + args.pointers + env.pointers) * sizeof(char *);
	uintptr_t *block = calloc(1, pointers + auxv_size + args.bytes + env.bytes);
	char **argv;
	char *text;

	if (!block)
		return NULL;
	argv = (char **)block + 1;
	text = (char *)block + pointers + auxv_size;
	*block = args.pointers - 1;
	memcpy((char *)block + pointers, auxv, auxv_size);
	text = move_texts(start->argv, argv, text);
	(void)move_texts(start->env, argv + args.pointers, text);
	*ret_argc = (int)(args.pointers - 1);
	return argv;
}

/* ---- pages ---------------------------------------------------------------------------------- */

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

/* ---- the job -------------------------------------------------------------------------------- */

/* The job's arguments and environment. */
static char **take_job(char **argv, const Elf64_auxv_t *auxv, int *ret_argc)
{
	union {
		char **in;
		const char *const *out;
	} args = { argv + 1 }, env = { environ };
	struct process_start start;
	char **taken;

	remove_own(environ);
	(void)dl_iterate_phdr(make_pages, NULL);
	if (fcntl(WORKER_JOB_FD, F_SETFD, FD_CLOEXEC) < 0)
		child_exit(1);
	run_program_take(
		&(struct command){ .interpreter = argv[0], .args = args.out, .env = env.out },
		&start);
	if (is_read_at_start(start.env)) {
		run_program_begun();
		run_program_start(argv[0], &start);
	}
	taken = as_kernel_passes(&start, auxv, ret_argc);
	if (!taken)
		joblink_fail(WORKER_JOB_FD, "no memory for arguments");
	run_program_begun();
	close(WORKER_JOB_FD);
	return taken;
}

/* What a job does, before the interpreter has set up its own allocator. */
static bool can_allocate(const char *interpreter, const Elf64_auxv_t *auxv)
{
	const char *const none[] = { NULL };
	const struct command command = { interpreter, none, none, NULL };
	const struct program program = { .entrypoint = { AHEAD_PROBE, strlen(AHEAD_PROBE) } };
	struct process_start start;
	int argc;

	return run_program_prepare(&command, &program, &start, NULL) == 0 &&
	       as_kernel_passes(&start, auxv, &argc);
}

__attribute__((noreturn)) static void answer_probe(
	const char *interpreter, const Elf64_auxv_t *auxv, const void *in_libc)
{
	if (constructors_have_run(in_libc) || !can_allocate(interpreter, auxv))
		child_exit(1);
	child_exit(write(STDOUT_FILENO, AHEAD_ANSWER, strlen(AHEAD_ANSWER)) < 0);
}

/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming,readability-function-size): it is the C library's */

OURS int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*loader_fini)(void), void *stack_end);

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
	const Elf64_auxv_t *auxv = auxv_behind(argv + argc + 1);
	void *next = dlsym(RTLD_NEXT, "__libc_start_main");
	start_function *start;

	if (!next)
		child_exit(127);
	if (argc == 2 && strcmp(argv[1], AHEAD_PROBE) == 0)
		answer_probe(argv[0], auxv, next);
	argv = take_job(argv, auxv, &argc);
	environ = argv + argc + 1;
	*(void **)&start = next;
	return start(main, argc, argv, init, fini, loader_fini, stack_end);
}

/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming,readability-function-size) */
