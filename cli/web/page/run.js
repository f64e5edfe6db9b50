// One run: what became of it, its program with findings, output, timeline, calls and connections.

import { ask } from "./api.js";
import {
	badge, block, bytes_of, code, command, count, el, facts, is_bytes, line, moment_exact, outcome_of,
	section, size, svg, table, text_of, took,
} from "./text.js";

const PICTURE_MOST = 4 << 20;
const TEXT_SHOWN = 64 << 10;
const ARGUMENTS_SHOWN = 400;

export async function run_view(id, signal) {
	const record = await ask("runs.get", { run_id: id }, signal);
	const view = el("article", { class: "run", "aria-label": `Run ${record.run_id}`, "data-shows": record.run_id },
		head_of(record), facts_of(record), refusal_of(record), findings_of(record), program_of(record),
		streams_of(record), ...displayed(record, signal), timeline_of(record), calls_of(record), connections_of(record),
		refused_calls_of(record), files_of(record), ...artifacts_of(record, signal), limits_of(record), commands_of(record));
	return { view, ended: record.state === "ended" };
}

function head_of(record) {
	return el("header", { class: "run-head" },
		el("div", { class: "run-title" }, badge(outcome_of(record)), el("code", { class: "whole-id" }, record.run_id)),
		record.reason ? el("p", { class: "reason" }, ...block(record.reason)) : null);
}

function session_of(record) {
	const session = record.session;
	return session ? `${session.id}, cell ${session.cell}` : undefined;
}

function facts_of(record) {
	const metrics = record.metrics ?? {};
	const usage = { ...metrics, ...metrics.usage };
	const caller = record.caller ?? {};
	const labels = Object.entries(record.request?.labels ?? {}).map(([name, value]) => `${name}=${value}`).join(", ");
	return facts([
		["Received", moment_exact(record.received_us)],
		["Language", record.language ?? record.request?.language],
		["Policy", record.policy ? `${record.policy.name} (${record.policy.decision ?? "not asked"})` : undefined],
		["Caller", [caller.uid !== undefined ? `uid ${caller.uid}` : "", caller.name].filter(Boolean).join(", ")],
		["Agent", record.agent ?? record.request?.agent],
		["Task", record.task ?? record.request?.task],
		["Session", session_of(record)],
		["Exit code", record.exit_code],
		["Signal", record.signal],
		["Program took", took(metrics.exec_us)],
		["In all", took(metrics.total_us)],
		["Processor", usage.cpu_user_us !== undefined ? took((usage.cpu_user_us ?? 0) + (usage.cpu_sys_us ?? 0)) : undefined],
		["Memory", usage.memory_peak_bytes ? size(usage.memory_peak_bytes) : undefined],
		["Attempt", record.attempt],
		["Labels", labels],
		["Masked secrets", record.masks || undefined],
		["Result of", record.cached_from ? el("a", { href: `#/run/${record.cached_from}` }, record.cached_from) : undefined],
		["Repeats", record.replay_of ? el("a", { href: `#/run/${record.replay_of}` }, record.replay_of) : undefined],
		["Program", record.code_hash ? el("span", { class: "hash", title: record.code_hash }, record.code_hash.slice(0, 19)) : undefined],
	]);
}

function refusal_of(record) {
	const parts = [];
	if (record.evidence)
		parts.push(section("Evidence", facts(Object.entries(record.evidence).map(([key, value]) =>
			[key.replaceAll("_", " "), key.endsWith("_bytes") ? size(value) : text_of(value)]))));
	if (record.error)
		parts.push(section("Error", error_of(record.error)));
	if (record.output_errors?.length)
		parts.push(section("Output and its contract", table(["Where", "What"],
			record.output_errors.map((error) => [error.pointer || "the whole", error.message]))));
	if (record.approval)
		parts.push(section("Approval", facts(Object.entries(record.approval).map(([key, value]) =>
			[key.replace("_us", "").replaceAll("_", " "), key.endsWith("_us") ? moment_exact(value) : text_of(value)]))));
	if (record.refused_params !== undefined)
		parts.push(section("What was sent", el("pre", {}, ...block(text_of(record.refused_params)))));
	return el("div", {}, parts);
}

function error_of(error) {
	const at = error.line ? `${error.file ? `${error.file}, ` : ""}line ${error.line}` : "";
	return el("div", {},
		el("p", { class: "error" }, el("strong", {}, line(error.type)), ": ", ...block(error.message), el("span", { class: "dim" }, line(at ? `  (${at})` : ""))),
		error.frames?.length ? table(["File", "Line", "Function"], error.frames.map((frame) => [frame.file ?? "the program", String(frame.line ?? ""), frame.name])) : null);
}

function findings_of(record) {
	const found = record.policy?.findings ?? [];
	return found.length === 0 ? null : section(`Findings of policy ${line(record.policy.name)}`, findings_table(found));
}

export function findings_table(found) {
	return table(["Severity", "Rule", "Where", "What"], found.map((finding) => [
		el("span", { class: `severity is-${severity_kind(finding.severity)}` }, line(finding.severity)),
		finding.rule,
		finding.line ? `line ${finding.line}, column ${finding.column}` : "",
		el("span", {}, el("code", {}, line(finding.text)), " ", line(finding.message), finding.hint ? el("span", { class: "dim" }, " ", line(finding.hint)) : null),
	]));
}

function severity_kind(severity) {
	return { deny: "denied", ask: "wait", observe: "quiet" }[severity] ?? "quiet";
}

export function marks_of(findings, error) {
	const marks = new Map();
	for (const finding of findings ?? []) {
		if (finding.line && !marks.has(finding.line))
			marks.set(finding.line, { kind: severity_kind(finding.severity), text: finding.rule });
	}
	if (error?.line && !error.file && !marks.has(error.line))
		marks.set(error.line, { kind: "own", text: error.type ?? "error" });
	return marks;
}

function program_of(record) {
	const text = text_of(record.request?.code);
	if (!text)
		return record.pruned ? section("Program", el("p", { class: "dim" }, "Its contents have left the store.")) : null;
	return section("Program", code(text, marks_of(record.policy?.findings, record.error),
		`cectl output ${record.run_id} --stream code prints all of it.`));
}

function stream_of(record, name) {
	const text = text_of(record[name]);
	const tail = text_of(record[`${name}_tail`]);
	const bytes = record[`${name}_bytes`] ?? 0;
	const cut = text.length > TEXT_SHOWN || bytes > TEXT_SHOWN || record.truncated?.includes(name);
	if (!text && !tail)
		return null;
	return section(name,
		el("pre", { tabindex: "0", role: "region", "aria-label": name }, ...block(text.slice(0, TEXT_SHOWN))),
		tail ? el("pre", { class: "tail", tabindex: "0", role: "region", "aria-label": `end of ${name}` }, ...block(tail.slice(-TEXT_SHOWN))) : null,
		el("p", { class: "dim" }, line(`${size(bytes)}${is_bytes(record[name]) ? ", not UTF-8" : ""}${cut ? `; not all of it is here: cectl output ${record.run_id} --stream ${name}` : ""}`)));
}

function streams_of(record) {
	const parts = [stream_of(record, "stdout"), stream_of(record, "stderr")];
	if (record.value !== undefined && record.request?.output === "json")
		parts.push(section("value", el("pre", {}, ...block(JSON.stringify(record.value, null, 2).slice(0, TEXT_SHOWN)))));
	if (outcome_of(record) === "ok" && !parts.some(Boolean))
		parts.push(section("Output", el("p", { class: "dim" }, "It printed nothing.")));
	return el("div", {}, parts);
}

// ---- pictures and other things that it displayed ------------------------------------------------

// Only these two kinds, and only if the bytes are what the name says.
const PICTURES = { "image/png": [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], "image/jpeg": [0xff, 0xd8, 0xff] };

function picture_of(type, data, label) {
	const start = Object.hasOwn(PICTURES, type) ? PICTURES[type] : null;
	if (!start || !is_bytes(data) || data.base64.length > PICTURE_MOST * 4 / 3 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data.base64))
		return null;
	const bytes = bytes_of(data);
	if (!start.every((byte, at) => bytes[at] === byte))
		return el("p", { class: "dim" }, `This is called ${type}, and it is not.`);
	return el("img", { class: "picture", alt: line(label), src: `data:${type};base64,${data.base64}` });
}

// A picture that the record cuts at 64 KiB comes whole, when it is there.
function picture_later(run_id, stream, type, label, signal) {
	const place = el("div", {}, el("p", { class: "dim" }, "…"));
	ask("runs.output", { run_id, stream, length: PICTURE_MOST }, signal)
		.then((page) => place.replaceChildren(page.eof ? picture_of(type, page.data, label) ?? "" : `It is larger than ${size(PICTURE_MOST)}.`))
		.catch((error) => place.replaceChildren(line(error.message)));
	return place;
}

function displayed_item(record, item, number, signal) {
	const types = Object.keys(item.data ?? {});
	const picture = types.find((type) => Object.hasOwn(PICTURES, type));
	const label = `picture ${number} that the program displayed`;
	if (picture)
		return item.cut?.includes(picture) ? picture_later(record.run_id, `display:${number}:${picture}`, picture, label, signal) : picture_of(picture, item.data[picture], label);
	const grid = item.data["application/vnd.ced.table+json"];
	if (Array.isArray(grid?.columns) && Array.isArray(grid?.rows))
		return table(grid.columns.map((name) => line(text_of(name))), grid.rows.slice(0, 100).filter(Array.isArray).map((row) => row.slice(0, 64).map((cell) => line(text_of(cell)))));
	const type = ["text/plain", "text/markdown", "application/json", "text/html"].find((one) => types.includes(one)) ?? types[0];
	return el("div", {}, el("pre", {}, ...block(text_of(item.data[type]).slice(0, TEXT_SHOWN))),
		type === "text/plain" ? null : el("p", { class: "dim" }, line(`${type}, as text`)));
}

function displayed(record, signal) {
	const items = (record.display ?? []).slice(0, 64);
	return items.length === 0 ? [] : [section("Displayed", items.map((item, index) =>
		el("div", { class: "displayed" }, displayed_item(record, item, index + 1, signal))))];
}

function artifacts_of(record, signal) {
	const files = record.artifacts ?? [];
	if (files.length === 0)
		return [];
	const pictures = files.filter((file) => Object.hasOwn(PICTURES, file.mime ?? "") && file.bytes <= PICTURE_MOST).slice(0, 16);
	return [section("Artifacts", table(["Path", "Size", "Type"], files.map((file) => [file.path, size(file.bytes), file.mime ?? ""])),
		pictures.map((file) => el("div", { class: "displayed" }, file.truncated ?
			picture_later(record.run_id, `artifact:${file.path}`, file.mime, file.path, signal) : picture_of(file.mime, file.data, file.path))))];
}

// ---- the timeline -------------------------------------------------------------------------------

const PHASES = [
	["policy", "policy_us"], ["queue", "queue_us"], ["start", "start_us"], ["execute", "exec_us"], ["collect", "collect_us"],
];

function phases_of(metrics) {
	const known = PHASES.map(([name, key]) => [name, metrics[key] ?? metrics.phases?.[key] ?? 0]).filter(([, us]) => us > 0);
	const sum = known.reduce((all, [, us]) => all + us, 0);
	if (sum === 0)
		return null;
	let x = 0;
	const bars = known.map(([name, us]) => {
		const width = Math.max(0.4, us / sum * 100);
		const bar = svg("rect", { x, y: 0, width: Math.max(0, Math.min(width, 100 - x)), height: 10, class: `phase-${name}` }, svg("title", {}, `${name}: ${took(us)}`));
		x += width;
		return bar;
	});
	const legend = known.map(([name, us]) => el("li", {}, el("span", { class: `key phase-${name}`, "aria-hidden": "true" }), `${name} `, el("strong", {}, took(us))));
	return el("figure", { class: "phases" },
		svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": known.map(([name, us]) => `${name} ${took(us)}`).join(", ") }, ...bars),
		el("ul", { class: "legend" }, legend));
}

// Each step with the time since the one before as a bar.
function steps_of(trace, total_us) {
	let before = 0;
	return el("ol", { class: "steps" }, trace.map((step) => {
		const from = Math.min(before, step.t_us);
		const bar = el("span", { class: `bar phase-${PHASES.some(([name]) => name === step.phase) ? step.phase : "other"}` });
		bar.style.left = `${Math.min(100, from / total_us * 100)}%`;
		bar.style.width = `${Math.max(0.3, Math.min(100, (step.t_us - from) / total_us * 100))}%`;
		before = step.t_us;
		return el("li", { class: step.ok === false ? "step bad" : "step" },
			el("span", { class: "at" }, took(step.t_us)), el("span", { class: "track", "aria-hidden": "true" }, bar),
			el("span", { class: "what" }, line(step.step), step.note ? el("span", { class: "dim" }, "  ", line(step.note)) : null));
	}));
}

function timeline_of(record) {
	const trace = record.trace ?? [];
	const metrics = record.metrics ?? {};
	const total_us = Math.max(1, metrics.total_us ?? 0, trace.at(-1)?.t_us ?? 0);
	if (record.state !== "ended")
		return section("Timeline", el("p", { class: "dim" }, "It comes with the end of the run."));
	if (trace.length === 0 && !metrics.total_us)
		return null;
	return section("Timeline", phases_of(metrics), steps_of(trace, total_us));
}

// ---- what else it did ---------------------------------------------------------------------------

function calls_of(record) {
	const calls = record.tool_calls ?? [];
	return calls.length === 0 ? null : section("Calls of tools", table(["After", "Tool", "Verdict", "Outcome", "Took", "Arguments"], calls.map((call) => [
		took(Math.max(0, call.began_us - record.received_us)), `${call.call} ${call.tool}`,
		call.verdict ?? "unknown", call.code ?? (call.took_us === undefined ? "lost" : "ok"), took(call.took_us),
		el("code", { class: "arguments" }, line(call.truncated ? "(long)" : JSON.stringify(call.args ?? null).slice(0, ARGUMENTS_SHOWN)))])));
}

function connections_of(record) {
	const rows = record.connections ?? [];
	return rows.length === 0 ? null : section("Connections", table(["Host", "Verdict", "Why", "Count", "Sent", "Received"], rows.map((row) => [
		`${row.host}:${row.port}`, row.verdict, row.why ?? "", count(row.count), size(row.up), size(row.down)])));
}

function refused_calls_of(record) {
	const rows = record.refused_calls ?? [];
	return rows.length === 0 ? null : section("Refused kernel calls", table(["Call", "It tried to", "Count"], rows.map((row) => [
		[row.call, row.kind].filter(Boolean).join(" "), row.wish, count(row.count)])));
}

function files_of(record) {
	const rows = record.files?.opened ?? [];
	return rows.length === 0 ? null : section("Opened files", table(["Path", "How"], rows.map((row) => [
		row.path, ["read", "written", "created", "deleted"].filter((how) => row[how]).join(", ")])));
}

function limits_of(record) {
	const { enforced_by, ...limits } = record.limits ?? {};
	const rows = Object.entries(limits).filter(([, value]) => typeof value === "number");
	return rows.length === 0 ? null : el("details", { class: "part" }, el("summary", {}, "Limits"),
		table(["Limit", "Value", "Enforced by"], rows.map(([key, value]) => [
			key, key.endsWith("_bytes") ? size(value) : key.endsWith("_ms") ? took(value * 1000) : count(value), enforced_by?.[key] ?? ""])));
}

function commands_of(record) {
	return section("On the command line", command(`cectl show ${record.run_id}`), command(`cectl explain ${record.run_id}`),
		record.state === "parked" ? command(`cectl approvals ${record.run_id}`) : command(`cectl replay ${record.run_id}`));
}
