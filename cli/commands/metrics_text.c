#include "cli/commands/metrics_text.h"

#include <inttypes.h>

/* A value between quotes: a backslash, a quote and a new line are escaped. */
static int text_value(struct buf *out, const struct value *value)
{
	static const char *const escaped[] = { ['\\'] = "\\\\", ['"'] = "\\\"", ['\n'] = "\\n" };
	int status = 0;

	for (size_t i = 0; value_is(value, VALUE_TEXT) && i < value->text.len; i++) {
		unsigned char byte = (unsigned char)value->text.bytes[i];
		const char *other =
			byte < sizeof(escaped) / sizeof(*escaped) ? escaped[byte] : NULL;

		status |= other ? buf_append_text(out, other)
				: buf_append(out, &value->text.bytes[i], 1);
	}
	return status;
}

static int text_number(struct buf *out, const struct value *number)
{
	if (value_is(number, VALUE_REAL))
		return buf_printf(out, "%.17g", number->real);
	if (value_is(number, VALUE_UINT))
		return buf_printf(out, "%" PRIu64, number->uinteger);
	return buf_printf(out, "%" PRId64, value_as_int(number, 0));
}

/* "{phase="exec",le="0.1"}"; `bound` is NULL outside of histograms. */
static int text_labels(
	struct buf *out, const struct value *labels, const struct value *bound, bool is_last)
{
	const char *before = "{";
	int status = 0;

	for (size_t i = 0; value_is(labels, VALUE_MAP) && i < labels->map.count; i++) {
		status |= buf_printf(out, "%s%s=\"", before, labels->map.entries[i].key);
		status |= text_value(out, labels->map.entries[i].value);
		status |= buf_append_text(out, "\"");
		before = ",";
	}
	if (bound) {
		status |= buf_printf(out, "%sle=\"", before);
		status |= text_number(out, bound);
		status |= buf_append_text(out, "\"");
		before = ",";
	} else if (is_last) {
		status |= buf_printf(out, "%sle=\"+Inf\"", before);
		before = ",";
	}
	return before[0] == ',' ? status | buf_append_text(out, "}") : status;
}

/* One line: name, suffix, labels, number. */
static int text_line(struct buf *out, const struct value *name, const char *suffix,
	const struct value *labels, const struct value *number)
{
	int status = buf_printf(out, "%s%s", value_as_text(name), suffix);

	status |= text_labels(out, labels, NULL, false);
	status |= buf_append_text(out, " ");
	status |= text_number(out, number);
	return status | buf_append_text(out, "\n");
}

static int text_bucket(struct buf *out, const struct value *name, const struct value *labels,
	const struct value *bound, const struct value *count)
{
	int status = buf_printf(out, "%s_bucket", value_as_text(name));

	status |= text_labels(out, labels, bound, !bound);
	status |= buf_append_text(out, " ");
	status |= text_number(out, count);
	return status | buf_append_text(out, "\n");
}

static int text_histogram(struct buf *out, const struct value *name, const struct value *sample)
{
	const struct value *labels = value_get(sample, "labels");
	const struct value *buckets = value_get(sample, "buckets");
	int status = 0;

	for (size_t i = 0; value_at(buckets, i); i++)
		status |= text_bucket(out, name, labels, value_at(value_at(buckets, i), 0),
			value_at(value_at(buckets, i), 1));
	status |= text_bucket(out, name, labels, NULL, value_get(sample, "count"));
	status |= text_line(out, name, "_sum", labels, value_get(sample, "sum"));
	return status | text_line(out, name, "_count", labels, value_get(sample, "count"));
}

static int text_family(struct buf *out, const struct value *family)
{
	const struct value *name = value_get(family, "name");
	const char *word = value_as_text(name);
	const char *help = value_as_text(value_get(family, "help"));
	const char *type = value_as_text(value_get(family, "type"));
	const struct value *samples = value_get(family, "samples");
	int status = 0;

	if (!word || !help || !type)
		return 0;
	status |= buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", word, help, word, type);
	for (size_t i = 0; value_at(samples, i); i++) {
		const struct value *sample = value_at(samples, i);

		status |= value_get(sample, "buckets")
				  ? text_histogram(out, name, sample)
				  : text_line(out, name, "", value_get(sample, "labels"),
					    value_get(sample, "value"));
	}
	return status;
}

int metrics_text(const struct value *result, struct buf *out)
{
	const struct value *families = value_get(result, "families");
	int status = 0;

	for (size_t i = 0; value_at(families, i); i++)
		status |= text_family(out, value_at(families, i));
	return status < 0 ? -1 : 0;
}
