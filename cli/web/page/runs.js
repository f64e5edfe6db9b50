// The list of runs.  Only the rows that are in sight are elements, so ten thousand runs cost as much as
// fifty.

import { ask } from "./api.js";
import { badge, count, el, line, moment, moment_exact, outcome_of, outcomes, took } from "./text.js";

const ROW = 30; // pixels; style.css has the same
const SPARE = 8; // rows above and below what is in sight
const PAGE = 500;
const MOST = 50_000; // runs that are remembered
const SEARCH_MS = 250;

export class RunList {
	constructor(open) {
		this.open = open; // called with a run's id, and whether it was chosen or only passed
		this.runs = []; // newest first
		this.known = new Map();
		this.chosen = ""; // an id
		this.more = false;
		this.loading = null;
		this.pool = new Map(); // an id: its row in the page
		this.build();
	}

	build() {
		this.search = el("input", { type: "search", id: "search", placeholder: "Words in programs and outputs", "aria-label": "Search words in programs and outputs", maxlength: "200", autocomplete: "off", spellcheck: "false" });
		this.outcome = el("select", { "aria-label": "Outcome" }, el("option", { value: "" }, "any outcome"),
			outcomes.map((word) => el("option", { value: word }, word.replaceAll("_", " "))));
		this.language = el("select", { "aria-label": "Language" }, el("option", { value: "" }, "any language"));
		this.agent = el("input", { type: "search", placeholder: "agent", "aria-label": "Agent", maxlength: "128", autocomplete: "off", spellcheck: "false", class: "agent" });
		this.total = el("span", { class: "dim total", role: "status" });
		this.spacer = el("div", { class: "spacer", role: "rowgroup" });
		this.scroller = el("div", { class: "rows", tabindex: "0", role: "grid", "aria-label": "Runs, the newest first", "aria-colcount": "6" }, this.spacer);
		this.empty = el("p", { class: "empty", hidden: true });
		this.root = el("div", { class: "list" },
			el("div", { class: "filters", role: "search" },
				el("span", { class: "searchbox" }, this.search, el("kbd", { "aria-hidden": "true" }, "/")),
				this.outcome, this.language, this.agent, this.total),
			el("div", { class: "titles", "aria-hidden": "true" },
				["Time", "Outcome", "Language", "Agent", "Took", "Run"].map((title) => el("span", {}, title))),
			this.scroller, this.empty);
		for (const input of [this.search, this.agent])
			input.addEventListener("input", () => this.search_soon());
		for (const select of [this.outcome, this.language])
			select.addEventListener("change", () => this.reload());
		this.scroller.addEventListener("scroll", () => this.draw_soon());
		this.scroller.addEventListener("click", (event) => this.clicked(event));
		this.scroller.addEventListener("keydown", (event) => this.key(event));
		new ResizeObserver(() => this.draw_soon()).observe(this.scroller);
	}

	set_languages(words) {
		this.language.append(...words.map((word) => el("option", { value: word }, line(word))));
	}

	// ---- what is there ----

	filter() {
		const params = {};
		const text = this.search.value.trim();
		if (/[^ \t"]/.test(text))
			params.text = text;
		if (this.outcome.value)
			params.outcome = this.outcome.value;
		if (this.language.value)
			params.language = this.language.value;
		if (this.agent.value.trim())
			params.agent = this.agent.value.trim();
		return params;
	}

	search_soon() {
		clearTimeout(this.search_timer);
		this.search_timer = setTimeout(() => this.reload(), SEARCH_MS);
	}

	async reload() {
		this.abort?.abort();
		this.abort = new AbortController();
		this.loading = null;
		const { signal } = this.abort;
		try {
			const page = await ask("runs.list", { ...this.filter(), limit: PAGE }, signal);
			this.runs = [];
			this.known.clear();
			this.scroller.scrollTop = 0;
			this.take(page);
		} catch (error) {
			if (error.name !== "AbortError")
				this.fail(error);
		}
	}

	// After a gap in the events: what is new joins what is there.
	async catch_up() {
		if (this.runs.length === 0)
			return this.reload();
		try {
			const page = await ask("runs.list", { ...this.filter(), limit: PAGE });
			const oldest = page.runs.at(-1)?.run_id ?? "";
			if (page.more && !this.known.has(oldest))
				return this.reload(); // more than a page has happened
			for (const run of page.runs)
				this.merge(run);
			this.changed();
		} catch (error) {
			this.fail(error);
		}
	}

	load_more() {
		if (!this.more || this.loading || this.runs.length >= MOST)
			return;
		const { signal } = this.abort;
		const before = this.runs.at(-1).run_id;
		this.loading = ask("runs.list", { ...this.filter(), limit: PAGE, before }, signal)
			.then((page) => {
				this.loading = null;
				this.take(page);
			})
			.catch((error) => {
				if (error.name === "AbortError")
					return;
				this.loading = null;
				this.more = false;
				this.fail(error);
			});
	}

	take(page) {
		for (const run of page.runs) {
			if (!this.known.has(run.run_id)) {
				this.runs.push(run);
				this.known.set(run.run_id, run);
			}
		}
		this.more = page.more;
		this.changed();
	}

	fail(error) {
		this.empty.hidden = this.runs.length > 0;
		this.empty.textContent = line(error.message);
	}

	// One run, newer than most.  Returns whether a row was added.
	merge(run) {
		const known = this.known.get(run.run_id);
		if (known) {
			Object.assign(known, run, { received_us: known.received_us });
			this.forget_row(run.run_id);
			return false;
		}
		let at = 0;
		while (at < this.runs.length && this.runs[at].run_id > run.run_id)
			at++;
		if (at === this.runs.length && this.more)
			return false; // it comes with its page
		this.runs.splice(at, 0, run);
		this.known.set(run.run_id, run);
		return true;
	}

	fits(run) {
		const filter = this.filter();
		if (filter.text)
			return false; // only the daemon can search
		return ["outcome", "language", "agent"].every((key) => !filter[key] ||
			(key === "outcome" ? outcome_of(run) : run[key]) === filter[key]);
	}

	// Events of one frame.
	hear(events) {
		let added = 0;
		for (const event of events) {
			const run = run_of_event(event);
			if (!run)
				continue;
			if (!this.fits({ ...this.known.get(run.run_id), ...run })) {
				if (this.known.has(run.run_id) && !this.filter().text)
					this.remove(run.run_id);
				continue;
			}
			added += this.merge(run);
		}
		while (this.runs.length > MOST)
			this.known.delete(this.runs.pop().run_id);
		this.changed();
		// What a person looks at stays where it is.
		if (added && this.scroller.scrollTop > ROW)
			this.scroller.scrollTop += added * ROW;
	}

	remove(id) {
		const at = this.runs.findIndex((run) => run.run_id === id);
		this.runs.splice(at, 1);
		this.known.delete(id);
	}

	// ---- what is in sight ----

	changed() {
		this.total.textContent = `${count(this.runs.length)}${this.more ? "+" : ""} ${this.runs.length === 1 ? "run" : "runs"}`;
		this.empty.hidden = this.runs.length > 0;
		this.empty.textContent = Object.keys(this.filter()).length > 0 ? "No run is like that." :
			"No run yet. Try: cectl run -c 'print(6 * 7)'";
		this.spacer.style.height = `${this.runs.length * ROW}px`;
		this.scroller.setAttribute("aria-rowcount", String(this.runs.length));
		this.draw_soon();
	}

	draw_soon() {
		this.frame ??= requestAnimationFrame(() => {
			this.frame = null;
			this.draw();
		});
	}

	draw() {
		const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW) - SPARE);
		const last = Math.min(this.runs.length, Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / ROW) + SPARE);
		const seen = new Set();
		for (let at = first; at < last; at++) {
			const run = this.runs[at];
			seen.add(run.run_id);
			this.place(run, at);
		}
		for (const id of this.pool.keys()) {
			if (!seen.has(id))
				this.forget_row(id);
		}
		if (last > this.runs.length - PAGE / 2)
			this.load_more();
	}

	place(run, at) {
		let row = this.pool.get(run.run_id);
		if (!row) {
			row = row_of(run);
			this.pool.set(run.run_id, row);
			this.spacer.append(row);
		}
		const chosen = run.run_id === this.chosen;
		row.style.transform = `translateY(${at * ROW}px)`;
		row.setAttribute("aria-rowindex", String(at + 1));
		row.setAttribute("aria-selected", String(chosen));
		if (chosen)
			this.scroller.setAttribute("aria-activedescendant", row.id);
	}

	forget_row(id) {
		this.pool.get(id)?.remove();
		this.pool.delete(id);
	}

	// ---- choosing ----

	index() {
		return this.runs.findIndex((run) => run.run_id === this.chosen);
	}

	choose(id) {
		this.chosen = id;
		if (!id)
			this.scroller.removeAttribute("aria-activedescendant");
		this.draw_soon();
	}

	show(at) {
		const top = at * ROW;
		const height = this.scroller.clientHeight;
		if (top < this.scroller.scrollTop)
			this.scroller.scrollTop = top;
		else if (top + ROW > this.scroller.scrollTop + height)
			this.scroller.scrollTop = top + ROW - height;
	}

	step(by) {
		if (this.runs.length === 0)
			return;
		const from = this.index();
		const at = Math.min(this.runs.length - 1, Math.max(0, from < 0 ? (by > 0 ? by - 1 : 0) : from + by));
		this.choose(this.runs[at].run_id);
		this.show(at);
		this.open(this.chosen, false);
	}

	clicked(event) {
		const row = event.target.closest("[data-run]");
		if (!row)
			return;
		this.choose(row.dataset.run);
		this.open(row.dataset.run, true);
	}

	key(event) {
		const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW) - 1);
		const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (event.key in steps)
			this.step(steps[event.key]);
		else if (event.key === "Enter" && this.chosen)
			this.open(this.chosen, true);
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	}
}

function row_of(run) {
	const cell = (text, name) => el("span", { role: "gridcell", class: name }, text);
	const time = run.total_us ?? run.exec_us;
	const who = [run.agent, run.task].filter(Boolean).join(" / ") || (run.uid !== undefined && run.uid !== null ? `uid ${run.uid}` : "");
	return el("div", { class: "row", role: "row", id: `row-${run.run_id}`, "data-run": run.run_id, title: moment_exact(run.received_us) },
		cell(moment(run.received_us), "time"), cell(badge(outcome_of(run)), "outcome"),
		cell(line(run.language), "language"), cell(line(who), "who"),
		cell(run.cached_from ? "known" : took(time), "took"), cell(run.run_id.slice(-8), "id"));
}

const STATES = { started: "running", asked: "parked", approved: "running", finished: "ended", denied: "ended" };

// What an event says about a run, with the keys of the list.  `asked` and `approved` may be about one
// call of a run that goes on.
function run_of_event(event) {
	if (!event.run_id || !STATES[event.kind] || event.call !== undefined)
		return null;
	const run = { run_id: event.run_id, state: STATES[event.kind] };
	for (const key of ["uid", "agent", "task", "language", "policy", "outcome", "ok", "reason", "exec_us", "total_us", "cached_from"]) {
		if (event[key] !== undefined)
			run[key] = event[key];
	}
	run.received_us = time_of(event.run_id) ?? event.at_us;
	return run;
}

// The time in a run's id, in microseconds.
function time_of(id) {
	const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
	let ms = 0;
	for (const letter of id.slice(0, 10)) {
		const digit = letters.indexOf(letter);
		if (digit < 0)
			return null;
		ms = ms * 32 + digit;
	}
	return ms * 1000;
}
