/* What somebody wants of this host: a run, or the cells of a session that is about to open. */
#pragma once

#include <stddef.h>

struct arena;
struct caller;
struct job_spec;
struct package_set;
struct runtime;
struct services;

struct wish {
	const struct services *services;
	const struct caller *caller;
	const struct runtime *runtime;
	const struct job_spec *spec;
	struct arena *arena; /* for the words of a refusal, and for what is found */
};

/* Package sets. */
struct chosen_packages {
	const struct package_set **sets;
	size_t count;
};
