/* The default and maximum limits of a run on the host that tests assume. */

#ifndef CED_TESTS_JOB_BOUNDS_H
#define CED_TESTS_JOB_BOUNDS_H

#include "proto/job/job.h"

/* Initialises a struct job_bounds; each test says how large a program may be. */
#define BOUNDS_OF_LIMITS                    \
	.standard = { .wall_ms = 5000,      \
		.cpu_ms = 5000,             \
		.cpu_percent = 100,         \
		.memory_bytes = 1U << 28,   \
		.disk_bytes = 1U << 26,     \
		.file_bytes = 1U << 26,     \
		.inodes = 4096,             \
		.pids = 64,                 \
		.stdout_bytes = 1U << 20,   \
		.stderr_bytes = 1U << 18,   \
		.display_bytes = 1U << 23,  \
		.artifact_bytes = 1U << 23, \
		.artifact_count = 16,       \
		.open_files = 256,          \
		.calls = 64,                \
		.calls_at_once = 8,         \
		.call_bytes = 1U << 18,     \
		.call_ms = 30000,           \
		.calls_ms = 60000 },        \
	.most = { .wall_ms = 60000,         \
		.cpu_ms = 60000,            \
		.cpu_percent = 400,         \
		.memory_bytes = 1U << 30,   \
		.disk_bytes = 1U << 29,     \
		.file_bytes = 1U << 29,     \
		.inodes = 65536,            \
		.pids = 256,                \
		.stdout_bytes = 1U << 24,   \
		.stderr_bytes = 1U << 24,   \
		.display_bytes = 1U << 26,  \
		.artifact_bytes = 1U << 26, \
		.artifact_count = 256,      \
		.open_files = 1024,         \
		.calls = 4096,              \
		.calls_at_once = 32,        \
		.call_bytes = 1U << 22,     \
		.call_ms = 600000,          \
		.calls_ms = 1800000 }

#endif
