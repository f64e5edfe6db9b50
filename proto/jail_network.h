/* What a program in a jail is told about the network: its C library says it, cectl recognises it. */
#pragma once

/* The message for a program that tries to use a network. */
#define JAIL_NO_NET "this run has no network; send what it needs with the run, in files or stdin"

/* The same for a program of a run with a network. */
#define JAIL_NAMED_ONLY \
	"this run may reach only the hosts that it named, and those of a pattern by the proxy"
