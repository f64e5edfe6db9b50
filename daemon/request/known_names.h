/* Messages about runtimes and policies that this host does not have. */
#pragma once

struct arena;
struct services;

/* Each returns NULL when the host has the name, or when `name` is NULL; else an error message. */
const char *names_unknown_runtime(
	const struct services *services, struct arena *arena, const char *name);
const char *names_unknown_policy(
	const struct services *services, struct arena *arena, const char *name);
