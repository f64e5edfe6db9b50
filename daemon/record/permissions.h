/* Whether others than the daemon's user may read the store or write to its folder, looked at once at the start. */
#pragma once

/* Logs a warning for the folder and for each file in it that others can get at, with what to type. */
void permissions_check(const char *folder);
