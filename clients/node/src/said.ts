import { inspect } from "node:util";

/** What was thrown, as text. Anything may be thrown, also what has no text. */
export function said(thrown: unknown): string {
	const message: unknown = thrown instanceof Error ? thrown.message : thrown;
	return typeof message === "string" ? message : inspect(message);
}
