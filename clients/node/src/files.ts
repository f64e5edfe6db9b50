import { createWriteStream } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, resolve, sep } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import type { Map_ } from "./methods.js";

/** Bytes, or where they come from. */
export type Source = string | Uint8Array | Readable | AsyncIterable<Uint8Array | string>;

/** A file of a run: its content, a path on this machine (`from`), or a blob. */
export interface FileSpec {
	/** Below /work; with `from` it may be left out. */
	path?: string;
	data?: Source;
	from?: string;
	blob?: string;
	mode?: number;
}

/** Files as a list, or as a map from the path below /work to the content. */
export type Files = FileSpec[] | { [path: string]: Source };

async function content(source: Source): Promise<string | Uint8Array> {
	if (typeof source === "string" || source instanceof Uint8Array) return source;
	const parts: Uint8Array[] = [];
	for await (const part of source) parts.push(typeof part === "string" ? Buffer.from(part) : part);
	return Buffer.concat(parts);
}

async function fileParam(file: FileSpec): Promise<Map_> {
	const { from, data, ...rest } = file;
	if (from !== undefined) return { path: basename(from), ...rest, data: await readFile(from) };
	return data === undefined ? { ...rest } : { ...rest, data: await content(data) };
}

/** The files as the protocol wants them; paths and streams are read. */
export function filesParam(files: Files): Promise<Map_[]> {
	const list = Array.isArray(files) ? files : Object.entries(files).map(([path, data]) => ({ path, data }));
	return Promise.all(list.map(fileParam));
}

const bytesOf = (data: string | Uint8Array): Uint8Array => (typeof data === "string" ? Buffer.from(data) : data);

/** The bytes of an artifact of a result, or undefined if the run left none at this path. */
export function artifact(result: Map_, path: string): Uint8Array | undefined {
	const found = (result.artifacts ?? []).find((item: Map_) => item.path === path);
	return found && bytesOf(found.data);
}

/** The path below `folder`; a name that would lead out of it is refused. */
function below(folder: string, path: string): string {
	const target = resolve(folder, path);
	if (!target.startsWith(resolve(folder) + sep))
		throw new Error(`the artifact "${path}" would be written outside of ${folder}`);
	return target;
}

/** Writes the artifacts of a result into a folder, which should be an empty one. Gives the paths. */
export async function saveArtifacts(result: Map_, folder: string): Promise<string[]> {
	const saved: string[] = [];
	for (const item of result.artifacts ?? []) {
		const target = below(folder, item.path);
		await mkdir(dirname(target), { recursive: true });
		await writeFile(target, bytesOf(item.data), { flag: "wx" });
		saved.push(target);
	}
	return saved;
}

/** Writes a stream of bytes, such as `client.output()`, to a new file. */
export const saveStream = (bytes: AsyncIterable<Uint8Array>, path: string): Promise<void> =>
	pipeline(Readable.from(bytes), createWriteStream(path, { flags: "wx" }));
