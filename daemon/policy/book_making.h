/* The second half of rulebook_load(): policies held against the rules that are already there. */
#pragma once

#include "daemon/policy/rulebook.h"

int book_add_policies(struct rulebook *book, const char *folder, struct err *err);
