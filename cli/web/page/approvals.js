// What waits for a person, with all of its code.  Nothing can be approved here: the page shows what to type.

import { ask } from "./api.js";
import { block, code, command, el, facts, line, moment_exact, section, table, text_of } from "./text.js";
import { findings_table, marks_of } from "./run.js";

export class Approvals {
	constructor(waiting) {
		this.waiting = waiting; // called with how many wait, or null if that is not ours to know
		this.body = el("div", { class: "approvals" });
		this.root = el("div", { class: "page" }, this.body);
	}

	async refresh() {
		try {
			const found = await ask("approvals.list", { limit: 100 });
			this.waiting(found.waiting.length + (found.calls?.length ?? 0));
			this.draw(found);
		} catch (error) {
			this.waiting(null);
			this.body.replaceChildren(el("p", { class: "empty" }, error.code === "forbidden" ? "You are no approver, so you see nothing here." : line(error.message)));
		}
	}

	draw(found) {
		const parts = [...found.waiting.map(run_waits), ...(found.calls ?? []).map(call_waits)];
		if (parts.length === 0)
			parts.push(el("p", { class: "empty" }, "Nothing waits for a person."));
		if (found.more)
			parts.push(el("p", { class: "dim" }, "More wait behind these."));
		if (found.grants?.length)
			parts.push(section("Approved for a time", table(["Act", "User", "Program", "Policy", "Until", "Left"], found.grants.map((grant) => [
				String(grant.act), `uid ${grant.uid}`, grant.code_hash.slice(0, 19), grant.policy, moment_exact(grant.until_us), grant.uses ?? "any number"]))));
		this.body.replaceChildren(...parts);
	}
}

function masked_text(count) {
	return `Masked places, where you cannot see what is there: ${count}.`;
}

function run_waits(run) {
	const request = run.request ?? {};
	const caller = run.caller ?? {};
	return el("article", { class: "waits", "aria-label": `Run ${run.run_id} waits` },
		el("header", { class: "run-head" }, el("div", { class: "run-title" },
			el("span", { class: "badge is-wait" }, el("span", { class: "sign", "aria-hidden": "true" }, "◷"), "waits"),
			el("a", { href: `#/run/${run.run_id}`, class: "whole-id" }, run.run_id))),
		run.changed ? el("p", { class: "reason" }, "Somebody changed this request in the store while it waited. It can only be denied.") : null,
		run.masked ? el("p", { class: "reason" }, masked_text(run.masked)) : null,
		facts([
			["Caller", [caller.uid !== undefined ? `uid ${caller.uid}` : "", caller.name].filter(Boolean).join(", ")],
			["Agent", request.agent ?? run.agent], ["Task", request.task ?? run.task], ["Language", request.language ?? run.language],
			["Policy", run.policy?.name], ["Since", moment_exact(run.since_us)], ["Until", moment_exact(run.until_us)],
			["Secrets", run.secrets || undefined], ["Arguments", request.args?.length ? JSON.stringify(request.args) : undefined],
			["Network", request.network ? JSON.stringify(request.network) : undefined], ["Packages", request.packages?.join(", ") || undefined],
			["Tools", request.tools?.map((tool) => tool.name).join(", ") || undefined]]),
		run.policy?.findings?.length ? findings_table(run.policy.findings) : null,
		code(text_of(request.code), marks_of(run.policy?.findings), `cectl approvals ${run.run_id} prints all of it.`),
		request.stdin ? section("stdin", el("pre", { tabindex: "0" }, ...block(text_of(request.stdin).slice(0, 64 << 10)))) : null,
		files_of(request.files ?? []),
		el("div", { class: "commands" }, run.changed ? null : command(`cectl approve ${run.run_id}${run.masked ? " --masked" : ""}`), command(`cectl deny ${run.run_id} --reason ''`)));
}

function files_of(files) {
	return files.length === 0 ? null : section("Files", files.map((file) => el("details", {},
		el("summary", {}, line(file.path)), el("pre", { tabindex: "0" }, ...block(text_of(file.data).slice(0, 64 << 10))))));
}

function call_waits(call) {
	return el("article", { class: "waits", "aria-label": `Call ${call.call} of run ${call.run_id} waits` },
		el("header", { class: "run-head" }, el("div", { class: "run-title" },
			el("span", { class: "badge is-wait" }, el("span", { class: "sign", "aria-hidden": "true" }, "◷"), "call of a tool waits"),
			el("a", { href: `#/run/${call.run_id}`, class: "whole-id" }, call.run_id))),
		facts([
			["Tool", call.tool], ["Call", String(call.call)], ["Effects", call.effects ? "it changes something" : "it only reads"], ["Caller", `uid ${call.uid}`],
			["Agent", call.agent], ["Task", call.task], ["Policy", call.policy], ["Rule", call.rule], ["Since", moment_exact(call.since_us)], ["Until", moment_exact(call.until_us)]]),
		call.masked ? el("p", { class: "reason" }, masked_text(call.masked)) : null,
		el("pre", { tabindex: "0" }, ...block(call.truncated ? "The arguments are long. cectl approvals prints them." : JSON.stringify(call.args ?? null, null, 2))),
		el("div", { class: "commands" }, command(`cectl approve ${call.run_id} --call ${call.call}${call.masked ? " --masked" : ""}`), command(`cectl deny ${call.run_id} --call ${call.call} --reason ''`)));
}
