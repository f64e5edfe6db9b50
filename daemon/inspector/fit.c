#include "daemon/inspector/fit.h"

#define TRIES_PER_LOOK 256U /* at the clock */

/* What is to be done when all steps in a node have been gone: the steps behind it. */
struct behind {
	const struct behind *behind;
	uint32_t step;
	uint32_t at;
	uint32_t end;
};

static bool is_late(struct fit *fit)
{
	if (++fit->tries % TRIES_PER_LOOK == 0 && fit->is_late(fit->context))
		fit->late = true;
	return fit->late;
}

/* Whether the node is what the step asks for. */
static bool suits(const struct fit *fit, const struct shape_step *step, uint32_t at)
{
	const struct node *node = &fit->nodes[at];

	if (step->any ? !node->named || node->kind == (TSSymbol)-1 : node->kind != step->kind)
		return false;
	return !step->field || step->field == node->field;
}

/* Whether no node behind this one is to be tried. */
static bool is_end(const struct fit *fit, uint32_t first, uint32_t at)
{
	const struct shape_step *step = &fit->steps[first];
	const struct node *node = &fit->nodes[at];

	return (step->immediate && node->named) || (step->once && node->field == step->field);
}

/* ---- steps without names: whether there is anything is all that counts ------------------------ */

static bool has_inside(struct fit *fit, const struct shape_step *step, uint32_t node);

static bool suits_any(struct fit *fit, uint32_t first, uint32_t at)
{
	for (uint32_t i = first; i; i = fit->steps[i].other)
		if (suits(fit, &fit->steps[i], at) && has_inside(fit, &fit->steps[i], at))
			return true;
	return false;
}

/* The first node from `at` on that the step, or what may stand in its place, fits; else `end`. */
static uint32_t find(struct fit *fit, uint32_t first, uint32_t at, uint32_t end)
{
	for (; at < end && !is_late(fit); at = fit->nodes[at].next) {
		if (suits_any(fit, first, at))
			return at;
		if (is_end(fit, first, at))
			return end;
	}
	return end;
}

static bool has_inside(struct fit *fit, const struct shape_step *step, uint32_t node)
{
	uint32_t end = fit->nodes[node].next;
	uint32_t at = node + 1;

	for (uint32_t i = step->inside; i; i = fit->steps[i].next) {
		at = find(fit, i, at, end);
		if (at >= end)
			return false;
		at = fit->nodes[at].next;
	}
	return true;
}

/* ---- steps with names: every way counts ------------------------------------------------------- */

static void go(
	struct fit *fit, uint32_t first, uint32_t at, uint32_t end, const struct behind *behind);

static void go_behind(struct fit *fit, const struct behind *behind)
{
	if (behind)
		go(fit, behind->step, behind->at, behind->end, behind->behind);
	else
		fit->on_fit(fit->context, fit->captures, fit->count);
}

/* Into the node, which suits the step, then behind it. */
static void enter(struct fit *fit, const struct shape_step *step, uint32_t node, uint32_t end,
	const struct behind *outer)
{
	const struct behind behind = { outer, step->next, fit->nodes[node].next, end };
	uint32_t count = fit->count;

	if (step->asked && !fit->holds(fit->context, node))
		return;
	for (uint32_t i = 0; i < step->capture_count; i++)
		fit->captures[fit->count++] = (struct fit_capture){ node, step->captures[i] };
	go(fit, step->inside, node + 1, fit->nodes[node].next, &behind);
	fit->count = count;
}

static void go_named(
	struct fit *fit, uint32_t first, uint32_t at, uint32_t end, const struct behind *behind)
{
	for (; at < end && !is_late(fit); at = fit->nodes[at].next) {
		for (uint32_t i = first; i; i = fit->steps[i].other)
			if (suits(fit, &fit->steps[i], at))
				enter(fit, &fit->steps[i], at, end, behind);
		if (is_end(fit, first, at))
			return;
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the pattern has steps */
static void go(
	struct fit *fit, uint32_t first, uint32_t at, uint32_t end, const struct behind *behind)
{
	uint32_t found;

	if (first == 0) {
		go_behind(fit, behind);
	} else if (fit->steps[first].captured) {
		go_named(fit, first, at, end, behind);
	} else {
		found = find(fit, first, at, end);
		if (found < end)
			go(fit, fit->steps[first].next, fit->nodes[found].next, end, behind);
	}
}

void fit_at(struct fit *fit, uint32_t step, uint32_t node)
{
	fit->count = 0;
	enter(fit, &fit->steps[step], node, fit->nodes[node].next, NULL);
}
