/*
 * The number of threads that numeric libraries use.
 *
 * They are loaded in the zygote, where no other thread may live, with one thread.  A job with more
 * processors sets the number anew.
 */
#pragma once

/*
 * Sets the number in libraries that are loaded.  Others read the environment when they are loaded.
 */
void processors_use(int count);
