// Text and elements.  Everything from outside becomes text of an element: nothing is parsed as HTML.

// Characters that draw nothing, change how others are drawn, or hide text.  cli/base/safe.c has the
// same ones for terminals.
const UNSEEN =
	/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff]|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
const UNSEEN_IN_LINE = new RegExp(`${UNSEEN.source}|[\\n\\t]`, "gu");
const MARKS_MOST = 2000; // elements that show such characters, in one text

function escape_of(found) {
	const known = { "\n": "\\n", "\t": "\\t", "\r": "\\r" }[found];
	const point = found.codePointAt(0);
	if (known)
		return known;
	return point < 0x80 ? `\\x${point.toString(16).padStart(2, "0")}` : `\\u{${point.toString(16)}}`;
}

// One line of text, with every hidden character written as an escape.
export function line(text) {
	return String(text ?? "").replace(UNSEEN_IN_LINE, escape_of);
}

// The same as nodes: escapes are marked.  Newlines and tabs stay.
export function block(text) {
	const whole = String(text ?? "");
	const nodes = [];
	let from = 0;
	let marks = 0;
	let plain = "";
	let marked = "";
	const put_marked = () => {
		if (marked && marks++ < MARKS_MOST) {
			nodes.push(document.createTextNode(plain), el("span", { class: "esc" }, marked));
			plain = "";
		} else {
			plain += marked;
		}
		marked = "";
	};
	for (const found of whole.matchAll(UNSEEN)) {
		const between = whole.slice(from, found.index);
		if (between) {
			put_marked();
			plain += between;
		}
		marked += escape_of(found[0]);
		from = found.index + found[0].length;
	}
	put_marked();
	nodes.push(document.createTextNode(plain + whole.slice(from)));
	return nodes;
}

function put(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes ?? {})) {
		if (name.startsWith("on"))
			element.addEventListener(name.slice(2), value);
		else if (value !== false && value !== null && value !== undefined)
			element.setAttribute(name, value === true ? "" : value);
	}
	element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
	return element;
}

// An element; children that are texts become text.  Names and attributes are ours.
export function el(name, attributes, ...children) {
	return put(document.createElement(name), attributes, children);
}

export function svg(name, attributes, ...children) {
	return put(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

// Bytes arrive as {"base64": ...}, UTF-8 as text.
export function is_bytes(value) {
	return typeof value?.base64 === "string" && Object.keys(value).length === 1;
}

export function bytes_of(value) {
	return Uint8Array.from(atob(value.base64), (letter) => letter.charCodeAt(0));
}

export function text_of(value) {
	if (is_bytes(value))
		return new TextDecoder().decode(bytes_of(value));
	return typeof value === "string" ? value : value === null || value === undefined ? "" : JSON.stringify(value, null, 2);
}

// ---- numbers ------------------------------------------------------------------------------------

export function took(us) {
	if (typeof us !== "number")
		return "";
	if (us < 1000)
		return `${us} µs`;
	if (us < 999_500)
		return `${short(us / 1000)} ms`;
	if (us < 120e6)
		return `${short(us / 1e6)} s`;
	if (us < 7200e6)
		return `${Math.floor(us / 60e6)} min ${Math.round((us % 60e6) / 1e6)} s`;
	return `${short(us / 3600e6)} h`;
}

function short(number) {
	return number < 10 ? number.toFixed(1) : Math.round(number).toString();
}

export function size(bytes) {
	const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
	let at = 0;
	if (typeof bytes !== "number")
		return "";
	while (bytes >= 1024 && at < units.length - 1) {
		bytes /= 1024;
		at++;
	}
	return `${at ? short(bytes) : bytes} ${at === 0 && bytes === 1 ? "byte" : units[at]}`;
}

export function count(number) {
	return Number(number ?? 0).toLocaleString("en");
}

const two = (number) => String(number).padStart(2, "0");
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

// "14:03:07" for today, else "24 Nov 14:03".
export function moment(us) {
	const at = new Date(us / 1000);
	if (typeof us !== "number")
		return "";
	if (at.toDateString() === new Date().toDateString())
		return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
	return `${at.getDate()} ${MONTHS[at.getMonth()]} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

export function moment_exact(us) {
	const at = new Date(us / 1000);
	return typeof us !== "number" ? "" :
		`${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ` +
		`${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

// ---- parts that all views use -------------------------------------------------------------------

// What an outcome is like: by colour and by sign, since a colour alone says nothing to some.
const KINDS = {
	ok: "good", running: "live", parked: "wait",
	exit: "own", exception: "own", syntax_error: "own", output_invalid: "own", canceled: "quiet",
	wall_limit: "limit", cpu_limit: "limit", memory_limit: "limit", disk_limit: "limit",
	output_limit: "limit", pids_limit: "limit", signal: "limit",
	syscall_denied: "denied", policy_denied: "denied", approval_denied: "denied",
	approval_expired: "denied", budget_exceeded: "denied", refused: "denied",
	busy: "fault", sandbox_error: "fault", lost: "fault",
};
const SIGNS = { good: "●", live: "◐", wait: "◷", own: "▲", limit: "■", denied: "✕", fault: "!", quiet: "○" };

export const outcomes = Object.keys(KINDS).filter((word) => word !== "parked");

export function outcome_kind(outcome) {
	return KINDS[outcome] ?? "quiet";
}

export function outcome_of(run) {
	return run.outcome ?? (run.state === "parked" ? "parked" : run.state === "ended" ? "" : "running");
}

export function badge(outcome) {
	const kind = outcome_kind(outcome);
	return el("span", { class: `badge is-${kind}` },
		el("span", { class: "sign", "aria-hidden": "true" }, SIGNS[kind]), line(outcome.replaceAll("_", " ")));
}

// A command to type, with a button that copies it.
export function command(text) {
	const button = el("button", { type: "button", class: "quiet", onclick: () => copy(text, button) }, "Copy");
	return el("div", { class: "command" }, el("code", {}, line(text)), button);
}

async function copy(text, button) {
	try {
		await navigator.clipboard.writeText(text);
		button.textContent = "Copied";
	} catch {
		button.textContent = "Select it";
	}
	setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

export function section(title, ...children) {
	return el("section", { class: "part" }, el("h3", {}, title), ...children);
}

export function facts(pairs) {
	const shown = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "");
	return el("dl", { class: "facts" }, shown.map(([name, value]) =>
		el("div", {}, el("dt", {}, name), el("dd", {}, value instanceof Node ? value : line(value)))));
}

export function table(titles, rows) {
	return el("div", { class: "scroll" }, el("table", {},
		el("thead", {}, el("tr", {}, titles.map((title) => el("th", { scope: "col" }, title)))),
		el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) =>
			el("td", {}, cell instanceof Node ? cell : line(cell))))))));
}

// A program with numbers of lines; `marks` maps a line's number to {kind, text}.
const LINES_MOST = 2000;

export function code(text, marks = new Map(), more = "") {
	const lines = String(text ?? "").replace(/\n$/, "").split("\n");
	const shown = lines.slice(0, LINES_MOST).map((content, index) => {
		const mark = marks.get(index + 1);
		return el("div", { class: mark ? `line is-${mark.kind}` : "line" },
			el("span", { class: "number", "aria-hidden": "true" }, String(index + 1)),
			el("span", { class: "content" }, ...block(content || " ")),
			mark ? el("span", { class: "mark" }, line(mark.text)) : null);
	});
	if (lines.length > LINES_MOST)
		shown.push(el("div", { class: "dim" }, `${count(lines.length - LINES_MOST)} more lines. ${more}`));
	return el("div", { class: "code", tabindex: "0", role: "region", "aria-label": "Program" }, shown);
}
