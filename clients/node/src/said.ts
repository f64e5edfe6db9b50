import { inspect } from "node:util";

/** What was thrown, as text. Anything may be thrown, also what has no text, or fails when it is asked for it. */
export function said(thrown: unknown): string {
	try {
		const message: unknown = thrown instanceof Error ? thrown.message : thrown;
		return typeof message === "string" ? message : inspect(message);
	} catch {
		return "an error that does not say what it is";
	}
}
