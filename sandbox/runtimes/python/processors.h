/*
 * How many processors libraries of numbers share out among threads of theirs.
 *
 * They are loaded in the zygote, where no thread may live, and told of one processor; a job with a
 * larger limit tells them anew.
 */
#pragma once

/* Tells those that are loaded.  Others read the environment when they are. */
void processors_use(int count);
