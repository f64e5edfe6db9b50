// Charts of a window of time, from `stats`: rate, latency, outcomes, phases, and who ran what.

import { ask } from "./api.js";
import { badge, count, el, facts, line, moment, outcome_kind, section, svg, table, took } from "./text.js";

const WINDOWS = [["15 minutes", 900], ["1 hour", 3600], ["24 hours", 86400], ["7 days", 604800]];
const GROUPS = [["language", "Languages"], ["agent", "Agents"], ["task", "Tasks"], ["policy", "Policies"], ["uid", "Users"]];
const W = 600;
const H = 150;
const LEFT = 52; // for numbers of the axis
const BOTTOM = 18;

export class Charts {
	constructor() {
		this.seconds = 3600;
		this.by = "language";
		this.body = el("div", { class: "charts" });
		const windows = WINDOWS.map(([name, seconds]) => el("button", { type: "button", "aria-pressed": String(seconds === this.seconds), onclick: (event) => this.choose(seconds, event.currentTarget) }, name));
		this.windows = el("div", { class: "windows", role: "group", "aria-label": "Window of time" }, windows);
		this.root = el("div", { class: "page" }, this.windows, this.body);
	}

	choose(seconds, button) {
		this.seconds = seconds;
		for (const other of this.windows.children)
			other.setAttribute("aria-pressed", String(other === button));
		this.refresh();
	}

	async refresh() {
		this.abort?.abort();
		this.abort = new AbortController();
		const { signal } = this.abort;
		const since = (Math.floor(Date.now() / 1000) - this.seconds) * 1_000_000;
		try {
			const all = await ask("stats", { since, by: "outcome" }, signal);
			const phases = await ask("stats", { since, by: "phase" }, signal);
			const groups = await ask("stats", { since, by: this.by }, signal);
			this.draw(all, phases, groups);
		} catch (error) {
			if (error.name !== "AbortError")
				this.body.replaceChildren(el("p", { class: "empty" }, line(error.message)));
		}
	}

	draw(all, phases, groups) {
		const focused = document.activeElement?.dataset?.by;
		this.body.replaceChildren(
			summary(all), chart_rate(all), chart_latency(all), bars_of("Outcomes", all.by, all.runs, (group) => badge(group.key), (group) => outcome_kind(group.key)),
			phases_table(phases.by), this.groups(groups));
		if (focused)
			this.body.querySelector(`[data-by="${CSS.escape(focused)}"]`)?.focus();
	}

	groups(stats) {
		const title = GROUPS.find(([by]) => by === this.by)[1];
		const part = bars_of(title, stats.by, stats.runs, (group) => el("span", {}, line(this.by === "uid" ? `uid ${group.key}` : group.key)), () => "live");
		const tabs = GROUPS.map(([by, name]) => el("button", { type: "button", class: "quiet", "data-by": by, "aria-pressed": String(by === this.by), onclick: () => { this.by = by; this.refresh(); } }, name));
		part.querySelector("h3").after(el("div", { class: "windows", role: "group", "aria-label": "Grouped by" }, tabs));
		return part;
	}
}

function summary(all) {
	const share = all.runs ? `${(all.ok / all.runs * 100).toFixed(all.ok === all.runs ? 0 : 1)} %` : "";
	return el("div", { class: "wide" }, facts([
		["Runs", `${count(all.runs)}${all.more ? " and more" : ""}`], ["Ok", share], ["Running now", count(all.running)],
		["Known results", all.cached ? count(all.cached) : undefined],
		["Half within", took(all.total_us?.p50)], ["9 of 10 within", took(all.total_us?.p90)], ["99 of 100 within", took(all.total_us?.p99)],
	]));
}

// ---- over time: slots without runs are left out, so each stands where its time is ----------------------------------------------------------------------------------

// A number that an axis can end at: 1, 2 or 5 and zeros.
function round_up(number) {
	const power = 10 ** Math.floor(Math.log10(Math.max(number, 1)));
	return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= number) ?? 1;
}

function axis(top, name_of) {
	return [0, 0.5, 1].map((part) => {
		const y = (H - BOTTOM) * (1 - part) + 4;
		return svg("g", {}, svg("line", { x1: LEFT, x2: W, y1: y, y2: y, class: "grid" }), svg("text", { x: LEFT - 6, y: y + 4, class: "tick end" }, name_of(top * part)));
	});
}

function slots_of(all) {
	const over = all.over ?? [];
	const first_us = over[0]?.from_us ?? 0;
	return over.map((slot) => ({ ...slot, index: Math.round((slot.from_us - first_us) / all.slot_us) }));
}

function times(over, slot_us) {
	const first_us = over[0].from_us;
	const ends = over.length > 1 ? [first_us, (first_us + over.at(-1).from_us) / 2, over.at(-1).from_us + slot_us] : [first_us];
	return ends.map((us, index) => svg("text", { x: [LEFT, (LEFT + W) / 2, W][index], y: H - 1, class: `tick ${["", "middle", "end"][index]}` }, moment(us)));
}

function figure(title, label, marks, legend) {
	return section(title, el("figure", { class: "chart" },
		svg("svg", { viewBox: `0 0 ${W} ${H + 4}`, role: "img", "aria-label": label }, ...marks),
		el("ul", { class: "legend" }, legend.map(([name, kind]) => el("li", {}, el("span", { class: `key ${kind}`, "aria-hidden": "true" }), name)))));
}

function nothing(title) {
	return section(title, el("p", { class: "dim" }, "No run ended in this time."));
}

function chart_rate(all) {
	const over = slots_of(all);
	const most = Math.max(0, ...over.map((slot) => slot.runs));
	if (most === 0)
		return nothing("Rate");
	const seconds = all.slot_us / 1e6;
	const top = round_up(most);
	const step = (W - LEFT) / (over.at(-1).index + 1);
	const high = (runs) => runs / top * (H - BOTTOM);
	const bars = over.flatMap((slot) => {
		const x = LEFT + slot.index * step;
		const width = Math.max(1, step - 1.5);
		const floor = H - BOTTOM + 4;
		const title = `${moment(slot.from_us)}: ${count(slot.runs)} runs, ${count(slot.ok)} ok`;
		return [
			svg("rect", { x, y: floor - high(slot.ok), width, height: high(slot.ok), class: "fill-good" }, svg("title", {}, title)),
			svg("rect", { x, y: floor - high(slot.runs), width, height: high(slot.runs - slot.ok), class: "fill-own" }, svg("title", {}, title))];
	});
	return figure("Rate", `Runs in each ${took(all.slot_us)}, at most ${count(most)}`, [...axis(top, (runs) => rate_word(runs / seconds)), ...bars, ...times(over, all.slot_us)],
		[["ok", "fill-good"], ["other outcomes", "fill-own"]]);
}

function rate_word(rate) {
	return rate === 0 ? "0" : rate < 0.02 ? `${(rate * 3600).toFixed(rate * 3600 < 10 ? 1 : 0)}/h` : rate < 1 ? `${(rate * 60).toFixed(rate * 60 < 10 ? 1 : 0)}/min` : `${rate.toFixed(rate < 10 ? 1 : 0)}/s`;
}

function chart_latency(all) {
	const over = slots_of(all).filter((slot) => slot.runs > 0);
	const most = Math.max(0, ...over.map((slot) => slot.p99_us));
	if (most === 0)
		return nothing("Latency");
	const top = round_up(most);
	const slots = over.at(-1).index + 1;
	const place = (slot, us) => [LEFT + (slot.index + 0.5) / slots * (W - LEFT), (H - BOTTOM) * (1 - us / top) + 4];
	const curve = (key, kind) => svg("polyline", { points: over.map((slot) => place(slot, slot[key]).map((at) => at.toFixed(1)).join(",")).join(" "), class: `curve ${kind}` });
	const dots = over.flatMap((slot) => [["p50_us", "line-live"], ["p99_us", "line-limit"]].map(([key, kind]) => {
		const [cx, cy] = place(slot, slot[key]);
		return svg("circle", { cx, cy, r: 2.5, class: `dot ${kind}` }, svg("title", {}, `${moment(slot.from_us)}: half within ${took(slot.p50_us)}, 99 of 100 within ${took(slot.p99_us)}`));
	}));
	return figure("Latency", `Time from request to record: 99 of 100 within ${took(all.total_us?.p99)}, half within ${took(all.total_us?.p50)}`,
		[...axis(top, took_round), curve("p99_us", "line-limit"), curve("p50_us", "line-live"), ...dots, ...times(over, all.slot_us)],
		[["half within", "fill-live"], ["99 of 100 within", "fill-limit"]]);
}

function took_round(us) {
	return us === 0 ? "0" : took(Math.round(us));
}

// ---- groups -------------------------------------------------------------------------------------

function bars_of(title, groups, all, name_of, kind_of) {
	const most = Math.max(1, ...groups.map((group) => group.runs));
	const rows = groups.slice(0, 12).map((group) => {
		const bar = el("span", { class: `fill fill-${kind_of(group)}` });
		bar.style.width = `${group.runs / most * 100}%`;
		return el("li", {}, el("span", { class: "name" }, name_of(group)), el("span", { class: "track", "aria-hidden": "true" }, bar),
			el("span", { class: "amount" }, count(group.runs)), el("span", { class: "dim share" }, `${(group.runs / Math.max(1, all) * 100).toFixed(1)} %`));
	});
	return section(title, rows.length > 0 ? el("ul", { class: "bars" }, rows) : el("p", { class: "dim" }, "No run ended in this time."));
}

function phases_table(groups) {
	return section("Phases", table(["Phase", "Half within", "9 of 10", "99 of 100"], (groups ?? []).map((group) => [group.key, took(group.us?.p50), took(group.us?.p90), took(group.us?.p99)])));
}
