import { constants, createWriteStream } from "node:fs";
import { mkdir, readFile, realpath, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import type { Map_ } from "./methods.js";

const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;

/** Bytes, or where they come from: a stream of node is an AsyncIterable. */
export type Source = string | Uint8Array | AsyncIterable<Uint8Array | string>;

/** A file of a run: its content, a path on this machine (`from`), or a blob. */
export interface FileSpec {
	/** Below /work; with `from` it may be left out. */
	path?: string;
	data?: Source;
	from?: string;
	blob?: string;
	mode?: number;
}

/** Files as a list, or as a map from the path below /work to the content or to `{ from }`, `{ data }` or `{ blob }`. */
export type Files = FileSpec[] | { [path: string]: Source | Omit<FileSpec, "path"> };

const isSource = (value: unknown): value is Source =>
	typeof value === "string" || value instanceof Uint8Array ||
	(typeof value === "object" && value !== null && Symbol.asyncIterator in value);

async function content(source: Source): Promise<string | Uint8Array> {
	if (typeof source === "string" || source instanceof Uint8Array) return source;
	const parts: Uint8Array[] = [];
	for await (const part of source) parts.push(typeof part === "string" ? Buffer.from(part) : part);
	return Buffer.concat(parts);
}

function mustHaveContent(file: FileSpec): void {
	if (file.from === undefined && file.blob === undefined && !isSource(file.data))
		throw new TypeError(`the file "${file.path}" has no content: give text, bytes, a stream, { from: "/a/path" } or { blob }`);
}

async function fileParam(file: FileSpec): Promise<Map_> {
	const { from, data, ...rest } = file;
	if (from !== undefined) return { path: basename(from), ...rest, data: await readFile(from) };
	return data === undefined ? { ...rest } : { ...rest, data: await content(data) };
}

/** The files as the protocol wants them; paths and streams are read. */
export function filesParam(files: Files): Promise<Map_[]> {
	if (typeof files !== "object" || files === null || files instanceof Uint8Array)
		throw new TypeError('files is one path or content: name the path in the run, such as { "a.csv": { from: "/data/a.csv" } }');
	const list = Array.isArray(files) ? files
		: Object.entries(files).map(([path, value]) => (isSource(value) ? { path, data: value } : { ...value, path }));
	list.forEach(mustHaveContent);
	return Promise.all(list.map(fileParam));
}

const bytesOf = (data: string | Uint8Array): Uint8Array => (typeof data === "string" ? Buffer.from(data) : data);

/** The bytes of an artifact of a result, or undefined if the run left none at this path. */
export function artifact(result: Map_, path: string): Uint8Array | undefined {
	const found = (result.artifacts ?? []).find((item: Map_) => item.path === path);
	return found && bytesOf(found.data);
}

/** The path without symbolic links. What is not there yet is none. */
const real = (path: string): Promise<string> =>
	realpath(path).catch(async () => (path === dirname(path) ? path : join(await real(dirname(path)), basename(path))));

/** The path below `folder`; a name that would lead out of it, over a symbolic link as well, is refused. */
async function below(folder: string, path: string): Promise<string> {
	const root = await real(resolve(folder));
	const target = await real(resolve(root, path));
	if (!target.startsWith(root.endsWith(sep) ? root : root + sep))
		throw new Error(`the artifact "${path}" would be written outside of ${folder}`);
	return target;
}

/** Writes the artifacts of a result into a folder, over files that are there. Gives the paths. */
export async function saveArtifacts(result: Map_, folder: string): Promise<string[]> {
	const saved: string[] = [];
	for (const item of result.artifacts ?? []) {
		const target = await below(folder, item.path);
		await mkdir(dirname(target), { recursive: true });
		await writeFile(target, bytesOf(item.data), { flag: O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW });
		saved.push(target);
	}
	return saved;
}

/** Writes a stream of bytes, such as `client.output()`, to a new file. */
export const saveStream = (bytes: AsyncIterable<Uint8Array>, path: string): Promise<void> =>
	pipeline(Readable.from(bytes), createWriteStream(path, { flags: "wx" }));
