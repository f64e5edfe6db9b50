/* The guided tour: programs and data embedded from cli/demo/, and the acts that they play in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/commands.h"

struct act {
	const char *title;
	const char *story;   /* told before */
	const char *command; /* what one would type for the same */
	const char *program; /* a file of cli/demo/ */
	const char *input;   /* another, or NULL */
	const char *schema;  /* another, or NULL */
	const char *policy;  /* or NULL */
	const char *limit;   /* name of a limit, or NULL */
	int64_t limit_value;
	bool shows_code;     /* before it runs */
	const char *outcome; /* how it must end */
	/* Tells what came of it.  -1 when a fact that the act is about is not in the result. */
	int (*tell)(struct cli *cli, const struct act *act, const struct value *result);
};

extern const struct act demo_acts[];
extern const size_t demo_act_count;

/* The source of an act's program, as a value in the arena. */
struct value *demo_file(struct cli *cli, const char *name);
