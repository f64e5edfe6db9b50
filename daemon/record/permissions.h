/* Checks at the start whether other users may read the store or write to its folder. */
#pragma once

/* Logs a warning with a repair for the folder and for each file that other users can access. */
void permissions_check(const char *folder);
