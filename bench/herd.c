#include "bench/herd.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/digest.h"

#define DAY_MS 86400000ULL

/* ---- chance ------------------------------------------------------------------------------- */

/* splitmix64: small, and good enough for a crowd. */
static uint64_t draw(struct herd *herd)
{
	uint64_t z = herd->random += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static unsigned below(struct herd *herd, unsigned end)
{
	return (unsigned)(draw(herd) % end);
}

/* From 0 up to `end`; the small ones far more often, as with words and with who works here. */
static unsigned ranked(struct herd *herd, unsigned end)
{
	double part = (double)(draw(herd) >> 11) * 0x1p-53;

	return (unsigned)pow((double)end + 1, part) - 1;
}

/* ---- texts -------------------------------------------------------------------------------- */

void herd_word(unsigned rank, char ret_word[16])
{
	static const char consonants[] = "bdfgklmnprstvz";
	static const char vowels[] = "aeiou";
	size_t at = 0;

	for (unsigned left = rank + 70; left > 0; left /= 70) {
		ret_word[at++] = consonants[left % 70 / 5];
		ret_word[at++] = vowels[left % 5];
	}
	ret_word[at] = '\0';
}

struct text {
	char *bytes; /* HERD_TEXT_BYTES */
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text->bytes + text->len, HERD_TEXT_BYTES - text->len, format, args);
	va_end(args);
	if (len > 0 && text->len + (size_t)len < HERD_TEXT_BYTES)
		text->len += (size_t)len;
}

static struct bytes bytes_of(const struct text *text)
{
	return (struct bytes){ text->bytes, text->len };
}

static void put_line_of_code(struct herd *herd, struct text *code)
{
	char one[16];
	char two[16];

	herd_word(ranked(herd, HERD_WORDS), one);
	herd_word(ranked(herd, HERD_WORDS), two);
	switch (below(herd, 5)) {
	case 0:
		put(code, "%s = load_%s(%u)\n", one, two, below(herd, 100));
		break;
	case 1:
		put(code, "for %s in %s:\n    total += %s.size\n", one, two, one);
		break;
	case 2:
		put(code, "print(\"%s\", %s)\n", one, two);
		break;
	case 3:
		put(code, "if %s > %u:  # %s\n    raise ValueError(\"%s\")\n", one,
			below(herd, 1000), two, one);
		break;
	default:
		put(code, "result[\"%s\"] = %s.get(\"%s\")\n", one, one, two);
		break;
	}
}

/* Half of them are among those that everybody runs again and again. */
static struct bytes make_code(struct herd *herd)
{
	struct text code = { herd->code, 0 };
	uint64_t random = herd->random;
	bool known = below(herd, 100) < 50;
	unsigned lines;

	if (known)
		herd->random = 0xc0de + ranked(herd, HERD_KNOWN_CODES);
	lines = 1 + below(herd, 6) * below(herd, 6);
	put(&code, "import json\n");
	for (unsigned i = 0; i < lines; i++)
		put_line_of_code(herd, &code);
	if (known)
		herd->random = random + 17;
	return bytes_of(&code);
}

static struct bytes make_output(struct herd *herd)
{
	static const char *const usual[] = { "ok\n", "1\n", "done\n", "None\n", "[]\n", "True\n",
		"0 problems found\n", "{\"status\": \"ok\"}\n" };
	struct text out = { herd->out, 0 };
	unsigned lines = 1 + below(herd, 4) * below(herd, 5);
	char word[16];

	if (below(herd, 100) < 15)
		return (struct bytes){ NULL, 0 };
	if (below(herd, 100) < 40) {
		put(&out, "%s", usual[ranked(herd, COUNT_OF(usual))]);
		return bytes_of(&out);
	}
	for (unsigned i = 0; i < lines; i++) {
		herd_word(ranked(herd, HERD_WORDS), word);
		put(&out, "%s: %u rows, %u ms\n", word, below(herd, 100000), below(herd, 500));
	}
	if (herd->number < herd->count / 20)
		put(&out, "%s\n", HERD_OLD_WORD);
	return bytes_of(&out);
}

/* ---- what became of it -------------------------------------------------------------------- */

static const struct {
	enum outcome outcome;
	unsigned of_10000;
} ends[] = {
	{ OUTCOME_EXCEPTION, 700 },
	{ OUTCOME_EXIT, 400 },
	{ OUTCOME_POLICY_DENIED, 250 },
	{ OUTCOME_SYNTAX_ERROR, 150 },
	{ OUTCOME_WALL_LIMIT, 100 },
	{ OUTCOME_MEMORY_LIMIT, 50 },
	{ OUTCOME_CANCELED, 50 },
	{ OUTCOME_REFUSED, 40 },
	{ OUTCOME_SYSCALL_DENIED, 30 },
	{ OUTCOME_OUTPUT_LIMIT, 20 },
	{ OUTCOME_SIGNAL, 10 },
	{ OUTCOME_LOST, 2 },
	{ OUTCOME_OK, 10000 },
};

static enum outcome draw_outcome(struct herd *herd)
{
	unsigned left = below(herd, 10000);
	size_t i = 0;

	while (left >= ends[i].of_10000)
		left -= ends[i++].of_10000;
	return ends[i].outcome;
}

static void put_finding(
	struct herd *herd, struct policy_verdict *verdict, const char *rule, const char *severity)
{
	herd->findings[verdict->finding_count++] = (struct policy_finding){ .rule = rule,
		.severity = severity,
		.line = 1 + below(herd, 20),
		.column = 1,
		.text = "import socket",
		.message = "This module is not for programs here." };
	verdict->findings = herd->findings;
}

static void judge(struct herd *herd, struct job_result *result)
{
	static const char *const rules[] = { "python.import.denied", "python.builtin.eval",
		"python.attribute.dunder", "python.import.observed", "python.open.write",
		"python.text.bidi" };
	struct policy_verdict *verdict = &result->verdict;

	verdict->finding_count = 0;
	verdict->decision = POLICY_ALLOW;
	if (result->outcome == OUTCOME_POLICY_DENIED) {
		verdict->decision = POLICY_DENY;
		put_finding(herd, verdict, rules[ranked(herd, COUNT_OF(rules))], "deny");
	}
	if (below(herd, 100) < 5)
		put_finding(herd, verdict, rules[below(herd, COUNT_OF(rules))], "observe");
}

static void take_time(struct herd *herd, struct job_result *result)
{
	struct job_metrics *metrics = &result->metrics;
	bool ran = result->outcome != OUTCOME_POLICY_DENIED && result->outcome != OUTCOME_REFUSED;

	metrics->queue_us = ran ? below(herd, 30) : 0;
	metrics->policy_us = 20 + below(herd, 400);
	metrics->start_us = ran ? 10 + below(herd, 20) : 0;
	metrics->exec_us = ran ? 100 + (int64_t)ranked(herd, 3000000) : 0;
	metrics->collect_us = ran ? 5 + below(herd, 30) : 0;
	metrics->total_us = metrics->queue_us + metrics->policy_us + metrics->start_us +
			    metrics->exec_us + metrics->collect_us;
	metrics->memory_peak_bytes = ran ? (8 << 20) + (int64_t)ranked(herd, 200 << 20) : 0;
	result->ran = ran ? RAN_YES : RAN_NO;
}

static void end_it(struct herd *herd, struct job_result *result)
{
	struct text errout = { herd->errout, 0 };
	char word[16];

	result->outcome = draw_outcome(herd);
	judge(herd, result);
	take_time(herd, result);
	result->out = (struct job_stream){ 0 };
	result->errout = (struct job_stream){ 0 };
	if (result->ran == RAN_NO)
		return;
	result->out.head = make_output(herd);
	result->out.total = result->out.head.len;
	if (result->outcome != OUTCOME_EXCEPTION)
		return;
	herd_word(ranked(herd, HERD_WORDS), word);
	put(&errout,
		"Traceback (most recent call last):\n  File \"main.py\", line %u, in <module>\n"
		"NameError: name '%s' is not defined\n",
		1 + below(herd, 30), word);
	result->errout.head = bytes_of(&errout);
	result->errout.total = errout.len;
}

/* ---- who asked ---------------------------------------------------------------------------- */

static void add_label(struct herd *herd, const char *name)
{
	size_t at = herd->sample.spec.label_count++;
	const char *value = herd->label_values[at];

	herd->labels[at] = (struct job_pair){ name, { value, strlen(value) } };
}

static void put_labels(struct herd *herd)
{
	static const char *const places[] = { "prod", "test", "dev" };
	char(*values)[32] = herd->label_values;
	struct job_spec *spec = &herd->sample.spec;

	spec->labels = herd->labels;
	spec->label_count = 0;
	if (below(herd, 100) < 60) {
		cut_printf(values[0], sizeof(values[0]), "%s", places[ranked(herd, 3)]);
		add_label(herd, "env");
	}
	if (below(herd, 100) < 30) {
		cut_printf(values[spec->label_count], sizeof(values[0]), "p-%02u", below(herd, 30));
		add_label(herd, "project");
	}
	if (below(herd, 100) < 5) {
		cut_printf(values[spec->label_count], sizeof(values[0]), "T-%llu",
			(unsigned long long)herd->number);
		add_label(herd, "ticket");
	}
}

static void put_caller(struct herd *herd)
{
	static const uint8_t action[DIGEST_LEN] = { 1 };
	static const char *const policies[] = { "standard", "strict", "open" };
	unsigned language = below(herd, 100);
	struct store_run *run = &herd->sample.run;

	run->uid = HERD_UID_FIRST + ranked(herd, HERD_UIDS);
	cut_printf(herd->agent, sizeof(herd->agent), "agent-%02u", ranked(herd, HERD_AGENTS));
	run->agent = below(herd, 100) < 85 ? herd->agent : NULL;
	cut_printf(herd->task, sizeof(herd->task), "task-%06llu",
		(unsigned long long)(herd->number / HERD_TASK_RUNS) + below(herd, 3));
	run->task = below(herd, 100) < 70 ? herd->task : NULL;
	cut_printf(herd->caller_id, sizeof(herd->caller_id), "call-%llu",
		(unsigned long long)herd->number);
	run->caller_id = below(herd, 100) < 10 ? herd->caller_id : NULL;
	run->action = run->caller_id ? action : NULL;
	run->language = language < 80 ? "python" : language < 92 ? "bash" : "javascript";
	run->policy = policies[ranked(herd, COUNT_OF(policies))];
	herd->sample.spec.language = run->language;
	herd->sample.spec.policy = run->policy;
	herd->sample.result.verdict.name = run->policy;
}

/* ---- life --------------------------------------------------------------------------------- */

void herd_init(struct herd *herd, uint64_t seed, uint64_t count, unsigned days)
{
	memset(herd, 0, sizeof(*herd));
	sample_init(&herd->sample);
	herd->random = seed;
	herd->count = count;
	herd->span_ms = days * DAY_MS;
	herd->first_ms = (uint64_t)clock_wall_us() / 1000 - herd->span_ms;
}

void herd_done(struct herd *herd)
{
	sample_done(&herd->sample);
}

int herd_next(struct herd *herd, struct store_run *ret_run, struct err *err)
{
	struct sample *sample = &herd->sample;
	uint64_t ms = herd->first_ms + (uint64_t)((double)herd->span_ms * (double)herd->number /
						  (double)herd->count);

	if (ulid_next_at(&herd->ids, ms, sample->run_id, err) < 0)
		return -1;
	put_caller(herd);
	put_labels(herd);
	sample->spec.code = make_code(herd);
	end_it(herd, &sample->result);
	job_code_hash(&sample->spec, sample->result.code_hash);
	job_input_hash(&sample->spec, sample->result.input_hash);
	sample->run.received_wall_us = (int64_t)ms * 1000;
	sample->run.ended_wall_us = sample->run.received_wall_us + sample->result.metrics.total_us;
	*ret_run = sample_ended(sample);
	herd->number++;
	return 0;
}
