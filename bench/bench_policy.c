/*
 * What the policy costs, from the question to the callback, one program at a time, in turn in one
 * program:
 *
 *   check        through a real inspector, as ced asks it, nothing remembered
 *   remembered   the same program again
 *   parse        tree-sitter alone, in this process: the floor
 *
 * for `print(1)`, an ordinary program of some 2 KB, and one of 200 KB, under `strict`.
 *
 *   bench_policy [rounds]      CED_LIBEXEC says where ced-inspector is
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/inspector/syntax.h"
#include "proto/base/clock.h"
#include "tests/inspecting.h"

#define ROUNDS_MIN 100
#define ROUNDS_MAX 20000

enum series {
	CHECK,
	REMEMBERED,
	PARSE,
	SERIES_COUNT
};

static const char *const names[SERIES_COUNT] = { "check", "remembered", "parse" };

static const char ordinary[] =
	"import json\n"
	"import statistics\n"
	"from collections import Counter, defaultdict\n"
	"from datetime import datetime, timedelta\n"
	"\n"
	"SEVERITIES = {\"critical\": 4, \"high\": 3, \"medium\": 2, \"low\": 1}\n"
	"\n"
	"\n"
	"class Incident:\n"
	"    def __init__(self, record):\n"
	"        self.id = record[\"id\"]\n"
	"        self.service = record.get(\"service\", \"unknown\")\n"
	"        self.severity = SEVERITIES.get(record.get(\"severity\"), 0)\n"
	"        self.opened = datetime.fromisoformat(record[\"opened\"])\n"
	"        self.closed = datetime.fromisoformat(record[\"closed\"]) if record.get(\"closed\") else None\n"
	"\n"
	"    @property\n"
	"    def minutes(self):\n"
	"        if self.closed is None:\n"
	"            return None\n"
	"        return (self.closed - self.opened) / timedelta(minutes=1)\n"
	"\n"
	"    def __repr__(self):\n"
	"        return f\"Incident({self.id!r}, {self.service!r}, {self.severity})\"\n"
	"\n"
	"\n"
	"def percentile(values, share):\n"
	"    ordered = sorted(values)\n"
	"    if not ordered:\n"
	"        return 0.0\n"
	"    index = min(len(ordered) - 1, int(round(share * (len(ordered) - 1))))\n"
	"    return ordered[index]\n"
	"\n"
	"\n"
	"def summarise(incidents):\n"
	"    by_service = defaultdict(list)\n"
	"    for incident in incidents:\n"
	"        by_service[incident.service].append(incident)\n"
	"    result = {}\n"
	"    for service, group in sorted(by_service.items()):\n"
	"        minutes = [i.minutes for i in group if i.minutes is not None]\n"
	"        result[service] = {\n"
	"            \"count\": len(group),\n"
	"            \"open\": sum(1 for i in group if i.closed is None),\n"
	"            \"mean_minutes\": round(statistics.fmean(minutes), 2) if minutes else None,\n"
	"            \"p90_minutes\": round(percentile(minutes, 0.9), 2),\n"
	"            \"severities\": Counter(i.severity for i in group).most_common(),\n"
	"        }\n"
	"    return result\n"
	"\n"
	"\n"
	"def main():\n"
	"    data = json.loads(input())\n"
	"    incidents = [Incident(record) for record in data[\"incidents\"]]\n"
	"    worst = max(incidents, key=lambda i: (i.severity, i.minutes or 0.0))\n"
	"    print(json.dumps({\"services\": summarise(incidents), \"worst\": repr(worst)}))\n"
	"\n"
	"\n"
	"if __name__ == \"__main__\":\n"
	"    main()\n";

struct sample {
	const char *name;
	struct bytes code;
	unsigned share; /* of the rounds */
};

static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void on_done(void *context, const struct policy_verdict *verdict)
{
	(void)verdict;
	*(bool *)context = true;
}

static bool check_once(struct inspecting *in, struct policy_question *question)
{
	struct policy_verdict verdict;
	struct err err = ERR_INIT;
	bool done = false;

	arena_done(&in->arena);
	if (policy_lookup(in->policies, question, &verdict))
		return true;
	if (policy_check(in->policies, question, on_done, &done, &err) < 0)
		return false;
	while (!done)
		(void)uv_run(&in->loop, UV_RUN_ONCE);
	return true;
}

static void parse_once(struct syntax *syntax, struct bytes code)
{
	if (!syntax_parse(syntax, code.data, code.len, clock_us() + 10000000))
		abort();
	syntax_forget(syntax);
}

static int compare_times(const void *left, const void *right)
{
	const int64_t *a = left;
	const int64_t *b = right;

	return (*a > *b) - (*a < *b);
}

static void report(const char *what, const char *name, int64_t *times, unsigned count)
{
	qsort(times, count, sizeof(*times), compare_times);
	(void)printf("%-10s %-11s p50 %9.1f us   p90 %9.1f us   p99 %9.1f us\n", name, what,
		(double)times[count / 2] / 1000.0, (double)times[count * 9 / 10] / 1000.0,
		(double)times[count * 99 / 100] / 1000.0);
}

static void measure(
	struct inspecting *in, struct syntax *syntax, const struct sample *sample, unsigned rounds)
{
	static int64_t times[SERIES_COUNT][ROUNDS_MAX];
	struct policy_question question = { policies_find(in->policies, "strict"), "python",
		sample->code, NULL, &in->arena, false };
	unsigned count = rounds / sample->share;

	for (unsigned i = 0; i < count; i++) {
		int64_t start = now_ns();

		question.code_hash = NULL;
		if (!check_once(in, &question))
			abort();
		times[CHECK][i] = now_ns() - start;
		question.code_hash = sample->name;
		if (i == 0)
			(void)check_once(in, &question);
		start = now_ns();
		(void)check_once(in, &question);
		times[REMEMBERED][i] = now_ns() - start;
		start = now_ns();
		parse_once(syntax, sample->code);
		times[PARSE][i] = now_ns() - start;
	}
	for (int i = 0; i < SERIES_COUNT; i++)
		report(names[i], sample->name, times[i], count);
}

int main(int argc, char **argv)
{
	static struct inspecting in;
	static char large[200 << 10];
	unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 4000;
	struct sample samples[] = {
		{ "print(1)", { "print(1)\n", 9 }, 1 },
		{ "2 KB", { ordinary, sizeof(ordinary) - 1 }, 1 },
		{ "200 KB", { large, sizeof(large) }, 100 },
	};
	const char *texts[] = { "(ERROR) @name", "(ERROR) @name" };
	const size_t lens[] = { 13, 13 };
	struct err err = ERR_INIT;
	struct syntax *syntax = syntax_new("python", texts, lens, &err);

	for (size_t at = 0; at < sizeof(large); at++)
		large[at] = ordinary[at % (sizeof(ordinary) - 1)];
	if (rounds < ROUNDS_MIN || rounds > ROUNDS_MAX) {
		fprintf(stderr, "bench_policy: %u rounds; %d to %d will do\n", rounds, ROUNDS_MIN,
			ROUNDS_MAX);
		return EXIT_FAILURE;
	}
	if (!syntax || !inspecting_start(&in, NULL, 1)) {
		fprintf(stderr,
			"bench_policy: no inspector in CED_LIBEXEC, or it does not start\n");
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < COUNT_OF(samples); i++)
		measure(&in, syntax, &samples[i], rounds);
	inspecting_stop(&in);
	syntax_free(syntax);
	return EXIT_SUCCESS;
}
