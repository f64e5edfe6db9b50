/*
 * What the policy costs, from the question to the callback, one program at a time, in turn in one
 * program:
 *
 *   check        through a real inspector, as ced asks it, nothing remembered
 *   inspect      the inspector's work alone, in this process: the same on a busy machine
 *   remembered   the same program again
 *   parse        tree-sitter alone, in this process: the floor
 *
 * for `print(1)`, an ordinary program of some 2 KB, and one of 200 KB, under `strict`, and for an
 * ordinary program in each other language.  At the end stands what we promise beside what came out.
 *
 *   bench_policy [rounds]      CED_LIBEXEC says where ced-inspector is
 *   bench_policy count SAMPLE  `inspect` and `parse` of one sample 50 times each and nothing else,
 *                              for who counts instructions, which a busy machine does not change:
 *	valgrind --tool=callgrind --toggle-collect=look_once bench_policy count '2 KB'
 *	valgrind --tool=callgrind --toggle-collect=parse_once bench_policy count '2 KB'
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tree_sitter/api.h>

#include "daemon/inspector/inspector.h"
#include "daemon/policy/rulebook.h"
#include "proto/base/clock.h"
#include "tests/inspecting.h"

#define ROUNDS_MIN 100
#define ROUNDS_MAX 20000
#define COUNTED    50

enum series {
	CHECK,
	INSPECT,
	REMEMBERED,
	PARSE,
	SERIES_COUNT
};

static const char *const names[SERIES_COUNT] = { "check", "inspect", "remembered", "parse" };

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

static const char ordinary_js[] =
	"const { createHash } = require('node:crypto')\n"
	"\n"
	"const SEVERITIES = { critical: 4, high: 3, medium: 2, low: 1 }\n"
	"\n"
	"class Incident {\n"
	"  constructor(record) {\n"
	"    this.id = record.id\n"
	"    this.service = record.service ?? 'unknown'\n"
	"    this.severity = SEVERITIES[record.severity] ?? 0\n"
	"    this.opened = new Date(record.opened)\n"
	"    this.closed = record.closed ? new Date(record.closed) : null\n"
	"  }\n"
	"\n"
	"  get minutes() {\n"
	"    return this.closed === null ? null : (this.closed - this.opened) / 60000\n"
	"  }\n"
	"\n"
	"  toString() {\n"
	"    return `Incident(${this.id}, ${this.service}, ${this.severity})`\n"
	"  }\n"
	"}\n"
	"\n"
	"function percentile(values, share) {\n"
	"  const ordered = [...values].sort((a, b) => a - b)\n"
	"  if (ordered.length === 0) return 0\n"
	"  return ordered[Math.min(ordered.length - 1, Math.round(share * (ordered.length - 1)))]\n"
	"}\n"
	"\n"
	"function summarise(incidents) {\n"
	"  const byService = new Map()\n"
	"  for (const incident of incidents) {\n"
	"    const group = byService.get(incident.service) ?? []\n"
	"    group.push(incident)\n"
	"    byService.set(incident.service, group)\n"
	"  }\n"
	"  const result = {}\n"
	"  for (const [service, group] of [...byService].sort()) {\n"
	"    const minutes = group.map(i => i.minutes).filter(m => m !== null)\n"
	"    result[service] = {\n"
	"      count: group.length,\n"
	"      open: group.filter(i => i.closed === null).length,\n"
	"      mean: minutes.length ? minutes.reduce((a, b) => a + b, 0) / minutes.length : null,\n"
	"      p90: percentile(minutes, 0.9),\n"
	"      digest: createHash('sha256').update(service).digest('hex').slice(0, 8),\n"
	"    }\n"
	"  }\n"
	"  return result\n"
	"}\n"
	"\n"
	"let text = ''\n"
	"process.stdin.on('data', chunk => { text += chunk })\n"
	"process.stdin.on('end', () => {\n"
	"  const incidents = JSON.parse(text).incidents.map(record => new Incident(record))\n"
	"  console.log(JSON.stringify({ services: summarise(incidents), worst: String(incidents[0]) }))\n"
	"})\n";

static const char ordinary_sh[] =
	"#!/bin/bash\n"
	"# Counts and sums by service, from lines of `service severity minutes`.\n"
	"set -euo pipefail\n"
	"\n"
	"declare -A count=() minutes=() worst=()\n"
	"declare -i lines=0\n"
	"\n"
	"die() {\n"
	"\tprintf 'summary: %s\\n' \"$*\" >&2\n"
	"\texit 1\n"
	"}\n"
	"\n"
	"severity() {\n"
	"\tcase $1 in\n"
	"\tcritical) echo 4 ;;\n"
	"\thigh) echo 3 ;;\n"
	"\tmedium) echo 2 ;;\n"
	"\t*) echo 1 ;;\n"
	"\tesac\n"
	"}\n"
	"\n"
	"note() {\n"
	"\tlocal service=$1 level=$2 spent=$3\n"
	"\tcount[$service]=$((${count[$service]:-0} + 1))\n"
	"\tminutes[$service]=$((${minutes[$service]:-0} + spent))\n"
	"\tif ((level > ${worst[$service]:-0})); then\n"
	"\t\tworst[$service]=$level\n"
	"\tfi\n"
	"}\n"
	"\n"
	"while read -r service word spent; do\n"
	"\t[[ -n $service && $service != '#'* ]] || continue\n"
	"\t[[ $spent =~ ^[0-9]+$ ]] || die \"line $lines: $spent is no number\"\n"
	"\tnote \"$service\" \"$(severity \"$word\")\" \"$spent\"\n"
	"\tlines+=1\n"
	"done\n"
	"\n"
	"((lines > 0)) || die 'there is nothing to sum up'\n"
	"\n"
	"for service in \"${!count[@]}\"; do\n"
	"\tprintf '%s\\t%d\\t%d\\t%d\\n' \"$service\" \"${count[$service]}\" \\\n"
	"\t\t\"${minutes[$service]}\" \"${worst[$service]:-0}\"\n"
	"done | sort -t $'\\t' -k3,3nr | head -10\n"
	"\n"
	"cat <<END\n"
	"$lines lines in all, ${#count[@]} services\n"
	"END\n";

struct sample {
	const char *name;
	const char *language;
	struct bytes code;
	unsigned share; /* of the rounds */
	double most;    /* a check, in bare parses */
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

/* The inspector's own code, with the rules that inspectors are sent. */
struct looking {
	struct rulebook *book;
	struct inspector *inspector;
};

static void looking_init(struct looking *looking)
{
	const size_t head = sizeof(struct inspect_head);
	struct err err = ERR_INIT;

	looking->book = rulebook_load(NULL, &err);
	if (looking->book)
		looking->inspector = inspector_new(looking->book->message.bytes + head,
			looking->book->message.len - head, &err);
	if (!looking->inspector)
		abort();
}

static void looking_done(struct looking *looking)
{
	inspector_free(looking->inspector);
	rulebook_free(looking->book);
}

__attribute__((noinline)) static void look_once(
	struct looking *looking, const struct sample *sample)
{
	struct inspect_check check = {
		.policy = rulebook_find(looking->book, "strict")->index,
		.language = (uint32_t)rulebook_language(looking->book, sample->language),
		.code = sample->code.data,
		.code_len = sample->code.len,
	};
	struct effort effort;
	struct inspect_findings findings;
	struct err err = ERR_INIT;

	effort_begin(&effort, INSPECT_LOOKS(check.code_len), INSPECT_CHECK_US, NULL, NULL);
	if (inspector_check(looking->inspector, &check, &effort, &findings, &err) < 0)
		abort();
}

/* ---- the floor: tree-sitter as anybody would use it ----------------------------------------- */

const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_javascript(void);
const TSLanguage *tree_sitter_bash(void);

static TSParser *parser_of(const char *language)
{
	TSParser *parser = ts_parser_new();

	if (!strcmp(language, "python"))
		(void)ts_parser_set_language(parser, tree_sitter_python());
	else if (!strcmp(language, "javascript"))
		(void)ts_parser_set_language(parser, tree_sitter_javascript());
	else
		(void)ts_parser_set_language(parser, tree_sitter_bash());
	return parser;
}

__attribute__((noinline)) static void parse_once(TSParser *parser, struct bytes code)
{
	TSTree *tree = ts_parser_parse_string(parser, NULL, code.data, (uint32_t)code.len);

	if (!tree)
		abort();
	ts_tree_delete(tree);
}

static int64_t time_parse(TSParser *parser, struct bytes code)
{
	int64_t start = now_ns();

	parse_once(parser, code);
	return now_ns() - start;
}

static int compare_times(const void *left, const void *right)
{
	const int64_t *a = left;
	const int64_t *b = right;

	return (*a > *b) - (*a < *b);
}

/* The median, in microseconds. */
static double report(const char *what, const char *name, int64_t *times, unsigned count)
{
	qsort(times, count, sizeof(*times), compare_times);
	(void)printf("%-10s %-11s p50 %9.1f us   p90 %9.1f us   p99 %9.1f us\n", name, what,
		(double)times[count / 2] / 1000.0, (double)times[count * 9 / 10] / 1000.0,
		(double)times[count * 99 / 100] / 1000.0);
	return (double)times[count / 2] / 1000.0;
}

static void measure(struct inspecting *in, struct looking *looking, const struct sample *sample,
	unsigned rounds, double medians[SERIES_COUNT])
{
	static int64_t times[SERIES_COUNT][ROUNDS_MAX];
	TSParser *parser = parser_of(sample->language);
	struct policy_question question = { .policy = policies_find(in->policies, "strict"),
		.language = sample->language,
		.code = sample->code,
		.arena = &in->arena };
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
		look_once(looking, sample);
		times[INSPECT][i] = now_ns() - start;
		times[PARSE][i] = time_parse(parser, sample->code);
	}
	for (int i = 0; i < SERIES_COUNT; i++)
		medians[i] = report(names[i], sample->name, times[i], count);
	ts_parser_delete(parser);
}

static void promise(const char *what, double wanted, double measured, const char *unit)
{
	(void)printf("%-44s wanted %7.2f %s   measured %7.2f %s   %s\n", what, wanted, unit,
		measured, unit, measured <= wanted ? "kept" : "missed");
}

static void tell_promises(
	const struct sample *samples, double medians[][SERIES_COUNT], size_t count)
{
	promise("print(1), checked", 60, medians[0][CHECK], "us");
	for (size_t i = 0; i < count; i++)
		promise("a program seen before, remembered", 40, medians[i][REMEMBERED], "us");
	for (size_t i = 1; i < count; i++) {
		char what[64];

		(void)snprintf(what, sizeof(what), "%s, times its bare parse", samples[i].name);
		if (samples[i].share > 1)
			continue;
		promise(what, samples[i].most, medians[i][CHECK] / medians[i][PARSE], "x ");
		promise("  of that the inspector's own work", samples[i].most,
			medians[i][INSPECT] / medians[i][PARSE], "x ");
	}
}

static int count_only(
	struct looking *looking, const struct sample *samples, size_t count, const char *name)
{
	const struct sample *sample = samples;
	TSParser *parser;

	while (sample < samples + count && strcmp(sample->name, name) != 0)
		sample++;
	if (sample == samples + count) {
		fprintf(stderr, "bench_policy: there is no sample %s\n", name);
		return EXIT_FAILURE;
	}
	parser = parser_of(sample->language);
	for (int i = 0; i < COUNTED; i++) {
		look_once(looking, sample);
		(void)time_parse(parser, sample->code);
	}
	ts_parser_delete(parser);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct inspecting in;
	static char large[200 << 10];
	unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 4000;
	struct sample samples[] = {
		{ "print(1)", "python", { "print(1)\n", 9 }, 1, 0 },
		{ "2 KB", "python", { ordinary, sizeof(ordinary) - 1 }, 1, 2 },
		{ "2 KB js", "javascript", { ordinary_js, sizeof(ordinary_js) - 1 }, 1, 2 },
		{ "1 KB bash", "bash", { ordinary_sh, sizeof(ordinary_sh) - 1 }, 1, 3 },
		{ "200 KB", "python", { large, sizeof(large) }, 100, 0 },
	};
	double medians[COUNT_OF(samples)][SERIES_COUNT];
	struct looking looking = { 0 };
	int status;

	for (size_t at = 0; at < sizeof(large); at++)
		large[at] = ordinary[at % (sizeof(ordinary) - 1)];
	if (argc == 3 && !strcmp(argv[1], "count")) {
		looking_init(&looking);
		status = count_only(&looking, samples, COUNT_OF(samples), argv[2]);
		looking_done(&looking);
		return status;
	}
	if (rounds < ROUNDS_MIN || rounds > ROUNDS_MAX) {
		fprintf(stderr, "bench_policy: %u rounds; %d to %d will do\n", rounds, ROUNDS_MIN,
			ROUNDS_MAX);
		return EXIT_FAILURE;
	}
	if (!inspecting_start(&in, NULL, 1)) {
		fprintf(stderr,
			"bench_policy: no inspector in CED_LIBEXEC, or it does not start\n");
		return EXIT_FAILURE;
	}
	looking_init(&looking);
	for (size_t i = 0; i < COUNT_OF(samples); i++)
		measure(&in, &looking, &samples[i], rounds, medians[i]);
	tell_promises(samples, medians, COUNT_OF(samples));
	looking_done(&looking);
	inspecting_stop(&in);
	return EXIT_SUCCESS;
}
