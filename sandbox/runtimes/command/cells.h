/* How a worker of bash starts the session that its job opens: what cells.c finds. */
#pragma once

#define CELLS_LIBRARY "ced-cells.so" /* in the harness folder; loaded before the C library */
#define CELLS_ENV     "CED_CELLS_FD" /* the job socket, whose job has not been read yet */
#define CELLS_SCRIPT  "bash" /* what bash is told to run, and so $0; no file has this name */
