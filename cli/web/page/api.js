// Questions to cectl web, and the stream of events.  The token is in the address that cectl printed;
// it is kept for this tab alone and leaves the address bar.

const KEY = "ced-token";
const AGAIN_MS = 1000;

let token = "";

export function take_token() {
	const found = location.hash.match(/^#token=([0-9a-f]{64})$/);
	if (found) {
		set_token(found[1]);
		history.replaceState(null, "", "#/runs");
	} else {
		token = sessionStorage.getItem(KEY) ?? "";
	}
	return token !== "";
}

// An address or a token that somebody pasted.  Whether it is one.
export function paste_token(text) {
	const found = text.trim().match(/(?:^|#token=)([0-9a-f]{64})$/);
	if (found)
		set_token(found[1]);
	return Boolean(found);
}

function set_token(text) {
	token = text;
	sessionStorage.setItem(KEY, text);
}

export class Refused extends Error {
	constructor(code, message) {
		super(message);
		this.code = code;
	}
}

let on_no_token = () => {};

export function when_token_is_wrong(callback) {
	on_no_token = callback;
}

async function get(path, signal) {
	let response;
	try {
		response = await fetch(path, {
			headers: { Authorization: `Bearer ${token}` },
			cache: "no-store", credentials: "omit", redirect: "error", signal,
		});
	} catch (error) {
		if (error.name === "AbortError")
			throw error;
		throw new Refused("no_web", "cectl web does not answer. Has it ended?");
	}
	if (response.ok)
		return response;
	const { error } = await response.json().catch(() => ({}));
	if (response.status === 401)
		on_no_token();
	throw new Refused(error?.code ?? String(response.status), error?.message ?? "no answer");
}

export async function ask(method, params = {}, signal = undefined) {
	const query = encodeURIComponent(JSON.stringify(params));
	const response = await get(`/api/${method}?params=${query}`, signal);
	return response.json();
}

// Calls `on_event` for each event, for ever.  {kind: "daemon", state} says whether events come.
export async function listen(on_event) {
	for (;;) {
		try {
			const response = await get("/api/events");
			await read_events(response.body.getReader(), on_event);
			on_event({ kind: "daemon", state: "no_web" });
		} catch (error) {
			on_event({ kind: "daemon", state: error.code === "busy" ? "too_often" : "no_web" });
			if (error.code === "forbidden")
				return;
		}
		await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
	}
}

async function read_events(reader, on_event) {
	const decoder = new TextDecoder();
	let rest = "";
	for (;;) {
		const { value, done } = await reader.read();
		if (done)
			return;
		const parts = (rest + decoder.decode(value, { stream: true })).split("\n\n");
		rest = parts.pop();
		for (const part of parts) {
			if (part.startsWith("data: "))
				on_event(JSON.parse(part.slice("data: ".length)));
		}
	}
}
