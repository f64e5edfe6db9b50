/*
 * The settings of a command runtime's zygote: words in JAIL_ENV_PRELOAD, which the daemon writes
 * from its configuration (daemon/workers/runtime_orders.c).
 *
 *	args: -w  tools: coreutils grep  keep: /usr/share/perl  ahead: worker.js
 *
 * args   come before the program's name when the interpreter is started
 * tools  programs that a job may start, by name; "coreutils" stands for all of them
 * keep   files and folders that were bound for it and stay as they are
 * ahead  scripts beside ced-zygote: the interpreter is started with the first before the job comes,
 *	  which takes the job itself and may load the others
 */
#pragma once

#include <stddef.h>

#include "proto/base/err.h"

#define ORDERS_ARGS_MAX  16
#define ORDERS_TOOLS_MAX 512
#define ORDERS_KEEP_MAX  32
#define ORDERS_AHEAD_MAX 16

struct orders {
	const char *args[ORDERS_ARGS_MAX + 1]; /* ended by NULL, as the others */
	const char *tools[ORDERS_TOOLS_MAX + 1];
	const char *keep[ORDERS_KEEP_MAX + 1];
	const char *ahead[ORDERS_AHEAD_MAX + 1];
};

/* Cuts `text` into words, which *ret_orders keeps. */
int orders_read(char *text, struct orders *ret_orders, struct err *err);
