/* Checks at the start whether other users may read the store or write to its folder. */
#pragma once

#include "proto/base/err.h"

/* Logs a warning with a repair for the folder and for each file that other users can access. */
void permissions_check(const char *folder);

/* The store cannot be opened: adds the repair if that is because root, say, has restored one of its files. */
void permissions_advise(const char *folder, struct err *err);
