/*
 * The second half of rulebook_load(): policies held against the rules that are already there.
 * book_making.c reads files and fills policies in, book_message.c writes what inspectors get.
 */
#pragma once

#include "daemon/policy/rulebook.h"

/* A list of one policy and its number in the message. */
struct known_list {
	const char *name;
	uint32_t index;
};

/* A policy while it is being made. */
struct draft {
	struct policy_file file;
	bool done;
	struct known_list lists[POLICY_FILE_LISTS];
	size_t list_count;
	struct policy_number numbers[POLICY_NUMBERS_MAX];
	size_t number_count;
};

struct making {
	struct rulebook *book;
	struct draft *drafts; /* beside book->policies */
	struct inspect_list lists[INSPECT_LISTS_MAX];
	uint32_t list_count;
	uint32_t *own_lists; /* by rule: the list of its own words */
	struct err *err;
};

int book_add_policies(struct rulebook *book, const char *folder, struct err *err);

/* The draft's list of that name, or NULL. */
struct known_list *draft_list(struct draft *draft, const char *name);

/* The draft's number of that name, or NULL. */
const struct policy_number *draft_number(const struct draft *draft, const char *name);

/* Fills in the settings of each policy, its digest, and book->message. */
int book_write_message(struct making *making);
