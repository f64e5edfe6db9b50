import type { Map_ } from "./methods.js";

/** A JSON Schema as it is sent. */
export type JsonSchema = Map_ | boolean;

/**
 * An object that checks values and knows its JSON Schema: a schema of zod 4, or your own pair
 * `{ parse, toJSONSchema }`.
 */
export interface Parser<T> {
	parse(value: unknown): T;
	toJSONSchema?(): unknown;
	"~standard"?: unknown;
}

/** A JSON Schema, or an object with `parse`. */
export type Schema<T> = JsonSchema | Parser<T>;

export const isParser = (schema: unknown): schema is Parser<unknown> =>
	typeof schema === "object" && schema !== null && typeof (schema as Parser<unknown>).parse === "function";

interface Standard {
	jsonSchema?: { input?: (options: { target: string }) => unknown };
}

/** The JSON Schema to send for `schema`. */
export function jsonSchema(schema: Schema<unknown>): JsonSchema {
	if (!isParser(schema)) return schema;
	const standard = schema["~standard"] as Standard | undefined;
	const made = typeof schema.toJSONSchema === "function" ? schema.toJSONSchema()
		: standard?.jsonSchema?.input?.({ target: "draft-2020-12" });
	if (typeof made !== "object" || made === null)
		throw new TypeError("this schema cannot say its JSON Schema; pass { parse, toJSONSchema }, for example " +
			"{ parse: (value) => schema.parse(value), toJSONSchema: () => z.toJSONSchema(schema) }");
	const { "~standard": _, ...plain } = made as Map_;
	return plain;
}
