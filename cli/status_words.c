#include "cli/status_words.h"

#include "cli/options.h"
#include "proto/base/container.h"

#define INDENT 19 /* the longest word, and a space */
#define WIDTH  80

/* In the order in which status shows them. */
static const struct {
	const char *word;
	const char *meaning;
} words[] = {
	{ "runtimes", "one line for each: its workers, and its runs since the start" },
	{ "  warm", "workers that wait for a program" },
	{ "  making", "workers that are being made" },
	{ "  running", "workers that run a program" },
	{ "  ending", "workers whose program has ended, and that are being removed" },
	{ "  wanted", "workers that are to be warm; it grows and shrinks with the demand" },
	{ "  runs, waited", "programs it has run, and how many of them found no warm worker" },
	{ "limits for", "limits that a runtime, policy, user or group has of its own" },
	{ "roles", "users and groups that the settings name for each role" },
	{ "ready", "true since a first worker was warm and the policy's rules were loaded" },
	{ "mode", "root, or user: a private daemon without root's rights" },
	{ "socket", "where clients connect, and how often its file was gone and was made again" },
	{ "connections", "clients that are connected" },
	{ "held", "memory that requests and replies take" },
	{ "in house", "runs anywhere between their arrival and their answer" },
	{ "queued", "those of them that wait for a worker" },
	{ "parked", "runs that wait until a person approves them" },
	{ "subscriptions", "clients that hear events (cectl watch, cectl top)" },
	{ "inspectors", "the processes that read programs for the policy" },
	{ "  alive, ready", "how many there are, and how many of them have the rules" },
	{ "  waiting", "programs that wait for one" },
	{ "  answered", "programs that were read since the start" },
	{ "  late, lost", "of these, read for too long, and cut short by the end of an inspector" },
	{ "  remembered", "verdicts that are known and need no inspector" },
	{ "  hits, misses", "how often a verdict was known, and how often it was not" },
	{ "outcomes", "how the runs since the start have ended" },
	{ "commits, records",
		"transactions and records written since the start; many records in one "
		"commit are a sign of load" },
	{ "trouble", "why nothing can be recorded just now; no run is taken meanwhile" },
	{ "log held",
		"who keeps the store's log from being emptied, how long it is, and at which length runs "
		"are refused" },
	{ "check", "the last look at every page of the store, with the damages it found" },
	{ "host", "what holds memory, processes and cpu time here, and what is missing" },
	{ "store", "the record on the disk" },
	{ "  unsettled",
		"runs whose words and counts are still to be indexed; it goes down by itself" },
	{ "  wal", "size of the log of what was written last" },
	{ "  free", "room on the disk of the store; runs are refused below 1 MiB" },
	{ "  schema", "the version of the tables" },
	{ "alerts", "rules for alerts in the settings, and how often one was raised" },
	{ "gc", "removal of old contents: whether it is busy, how often it ran, what it freed" },
	{ "clock",
		"how often the wall clock was set since the start, and by how much the last time" },
	{ "audit",
		"the key of signed checkpoints, the second file that they are written to, and how "
		"many records the last one since the start signs (links)" },
};

int status_words_help(struct buf *out)
{
	if (buf_append_text(out, "\nWords:\n") < 0)
		return -1;
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		size_t start = out->len;

		if (buf_printf(out, "  %s", words[i].word) < 0 ||
			options_wrap(words[i].meaning, INDENT, out->len - start, WIDTH, out) < 0)
			return -1;
	}
	return 0;
}
