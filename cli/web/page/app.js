// The page: which view is open, the keys, the line at the top, and events as they come.

import { ask, listen, paste_token, take_token, when_token_is_wrong } from "./api.js";
import { Approvals } from "./approvals.js";
import { Charts } from "./charts.js";
import { run_view } from "./run.js";
import { RunList } from "./runs.js";
import { el, line, svg } from "./text.js";

const PREVIEW_MS = 120; // after the last key, before a run that was only passed is shown
const REFRESH_MS = 3000; // charts and approvals, while things happen
const LOOK_MS = 10_000; // health
const RATE_SECONDS = 10;

const main = document.querySelector("#main");
const banner = document.querySelector("#banner");
const help = document.querySelector("#help");

// ---- one run ------------------------------------------------------------------------------------

const detail = el("div", { class: "detail", tabindex: "-1", role: "region", "aria-label": "The chosen run" });
const split = el("div", { class: "split" });
let shown = { id: "", ended: true, abort: null };

const list = new RunList((id, chosen) => {
	if (chosen) {
		go(`#/run/${id}`);
		detail.focus();
	} else if (is_wide() || split.classList.contains("opened")) {
		clearTimeout(list.preview);
		list.preview = setTimeout(() => preview(id), PREVIEW_MS);
	}
});
const charts = new Charts();
const approvals = new Approvals((count) => {
	const badge = document.querySelector("#waiting");
	badge.hidden = !count;
	badge.textContent = String(count ?? "");
});

split.append(list.root, detail);

// A run that was only passed leaves no trace in the browser's history.
function preview(id) {
	history.replaceState(null, "", `#/run/${id}`);
	route();
}

function is_wide() {
	return matchMedia("(min-width: 1100px)").matches;
}

async function show_run(id, again = false) {
	if (shown.id === id && !again)
		return;
	shown.abort?.abort();
	shown = { id, ended: false, abort: new AbortController() };
	const mine = shown;
	if (!again)
		detail.replaceChildren(el("p", { class: "empty" }, "…"));
	try {
		const { view, ended } = await run_view(id, mine.abort.signal);
		if (mine !== shown)
			return;
		mine.ended = ended;
		detail.replaceChildren(close_button(), view);
		if (!again)
			detail.scrollTop = 0;
	} catch (error) {
		if (error.name !== "AbortError" && mine === shown)
			detail.replaceChildren(close_button(), el("p", { class: "empty" }, line(error.message)));
	}
}

function close_button() {
	return el("button", { type: "button", class: "quiet close", onclick: back, title: "Back to the list (Esc)" }, "← Runs");
}

function hide_run() {
	shown.abort?.abort();
	shown = { id: "", ended: true, abort: null };
	detail.replaceChildren(el("p", { class: "empty" }, "Choose a run: ", el("kbd", {}, "j"), " ", el("kbd", {}, "k"), " ", el("kbd", {}, "Enter")));
}

// ---- views --------------------------------------------------------------------------------------

const views = { runs: split, charts: charts.root, approvals: approvals.root };
let view = "";
let locked = true; // the token is not known

function go(hash) {
	if (location.hash !== hash)
		location.hash = hash;
	route();
}

function back() {
	go("#/runs");
	list.scroller.focus();
}

function route() {
	if (locked)
		return;
	const [, name = "runs", id = ""] = location.hash.match(/^#\/(runs|charts|approvals|run)(?:\/([0-9A-Za-z]{1,26}))?$/) ?? [];
	const next = name === "run" ? "runs" : name;
	if (view !== next) {
		view = next;
		main.replaceChildren(views[view]);
		for (const link of document.querySelectorAll("nav a")) {
			if (link.dataset.view === view)
				link.setAttribute("aria-current", "page");
			else
				link.removeAttribute("aria-current");
		}
		list.draw_soon();
		refresh_view();
	}
	split.classList.toggle("opened", name === "run");
	if (name === "run") {
		if (list.chosen !== id)
			list.choose(id);
		show_run(id);
	} else {
		hide_run();
	}
	document.title = name === "run" ? `${id.slice(-8)} · ced` : "ced";
}

function refresh_view() {
	if (view === "charts")
		charts.refresh();
	if (view === "approvals")
		approvals.refresh();
}

// ---- keys ---------------------------------------------------------------------------------------

const KEYS = {
	"/": () => { go("#/runs"); list.search.focus(); list.search.select(); },
	"?": () => help.showModal(),
	1: () => { go("#/runs"); list.scroller.focus(); },
	2: () => go("#/charts"),
	3: () => go("#/approvals"),
	j: () => { to_list(); list.step(1); },
	k: () => { to_list(); list.step(-1); },
};

function to_list() {
	if (view !== "runs")
		go("#/runs");
	list.scroller.focus({ preventScroll: true });
}

function on_key(event) {
	const types = event.target.matches("input, select, textarea");
	if (event.ctrlKey || event.metaKey || event.altKey || help.open || locked)
		return;
	if (event.key === "Escape" && types) {
		list.scroller.focus();
	} else if (event.key === "Escape") {
		back();
	} else if (event.key === "Enter" && event.target === list.search) {
		list.scroller.focus();
	} else if (!types && Object.hasOwn(KEYS, event.key)) {
		KEYS[event.key]();
		event.preventDefault();
	}
}

// ---- events -------------------------------------------------------------------------------------

const STATES = {
	gone: "The daemon has gone. This page waits for it to come back.",
	refused: "The daemon gives no events at the moment. The page tries again.",
	no_web: "cectl web does not answer. Has it ended? A new one prints a new address.",
	too_often: "This page is open in too many tabs, so no events come. Close some.",
};

let pending = [];
let frame = null;
let gap = false; // events were missed
let stirred = false; // something happened since the last refresh
const ends = []; // when runs ended, the last minute

function on_event(event) {
	if (event.kind === "daemon")
		on_daemon(event.state);
	else if (event.kind === "missed")
		gap = true;
	else
		pending.push(event);
	stirred = true;
	frame ??= requestAnimationFrame(on_frame);
}

function on_frame() {
	const events = pending;
	const now = Date.now();
	pending = [];
	frame = null;
	for (const event of events) {
		if (event.kind === "finished" || event.kind === "denied")
			ends.push(now);
	}
	list.hear(events);
	if (gap) {
		gap = false;
		list.catch_up();
	}
	if (!shown.ended && events.some((event) => event.run_id === shown.id && event.kind !== "started"))
		show_run(shown.id, true);
	if (events.some((event) => ["asked", "approved", "denied"].includes(event.kind)))
		approvals.refresh();
}

function on_daemon(state) {
	banner.textContent = STATES[state] ?? "";
	banner.hidden = !STATES[state];
	document.body.dataset.daemon = state;
	if (!STATES[state]) {
		gap = true; // of what happened before, nothing was heard
		look();
	}
}

// ---- the line at the top ------------------------------------------------------------------------

function draw_pulse() {
	const now = Date.now();
	while (ends.length > 0 && ends[0] < now - 60_000)
		ends.shift();
	const slots = new Array(60).fill(0);
	for (const at of ends)
		slots[Math.min(59, Math.max(0, 59 - Math.floor((now - at) / 1000)))]++;
	const most = Math.max(1, ...slots);
	document.querySelector("#pulse").replaceChildren(...slots.map((runs, index) => svg("rect", { x: index * 2, y: 24 - runs / most * 23, width: 1.4, height: runs / most * 23 })));
	const recent = slots.slice(-RATE_SECONDS).reduce((sum, runs) => sum + runs, 0) / RATE_SECONDS;
	document.querySelector("#rate").textContent = `${recent.toFixed(1)} runs/s`;
}

async function look() {
	const place = document.querySelector("#health");
	try {
		const { status, faults } = await ask("health");
		place.textContent = status;
		place.className = `health is-${{ ok: "good", degraded: "own" }[status] ?? "denied"}`;
		place.title = faults.map((fault) => line(`${fault.part}: ${fault.message}`)).join("\n");
	} catch (error) {
		place.textContent = error.code === "no_daemon" ? "no daemon" : "?";
		place.className = "health is-denied";
		place.title = line(error.message);
	}
}

// ---- the beginning ------------------------------------------------------------------------------

function ask_for_token() {
	if (document.querySelector("#token"))
		return;
	locked = true;
	const input = el("input", { type: "password", id: "token", "aria-label": "Address or token", autocomplete: "off" });
	const said = el("p", { class: "dim", role: "status" });
	const take = () => {
		said.textContent = "";
		if (paste_token(input.value))
			location.reload();
		else
			said.textContent = "That is neither such an address nor a token.";
	};
	input.addEventListener("keydown", (event) => event.key === "Enter" && take());
	main.replaceChildren(el("div", { class: "gate" }, el("h2", {}, "This page needs its token"),
		el("p", {}, "Open the address that ", el("code", {}, "cectl web"), " printed, or paste it here. Each start of cectl web has a new one."),
		el("div", { class: "command" }, input, el("button", { type: "button", onclick: take }, "Open")), said));
	input.focus();
}

async function begin() {
	document.querySelector("#help-button").addEventListener("click", () => help.showModal());
	document.querySelector("#help-close").addEventListener("click", () => help.close());
	when_token_is_wrong(ask_for_token);
	window.addEventListener("hashchange", () => {
		if (location.hash.startsWith("#token=") && take_token())
			location.reload();
		route();
	});
	if (!take_token()) {
		ask_for_token();
		return;
	}
	locked = false;
	document.addEventListener("keydown", on_key);
	route();
	list.scroller.focus();
	await list.reload();
	listen(on_event);
	approvals.refresh();
	ask("runtimes").then(({ runtimes }) => list.set_languages([...new Set(runtimes.map((runtime) => runtime.language))])).catch(() => {});
	draw_pulse();
	setInterval(draw_pulse, 1000);
	setInterval(() => document.hidden || look(), LOOK_MS);
	setInterval(() => {
		if (stirred && !document.hidden && view === "charts")
			charts.refresh();
		stirred = false;
	}, REFRESH_MS);
}

begin();
