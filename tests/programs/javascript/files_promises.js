// entrypoint: main.mjs
import { mkdtemp, open, readFile, rm, stat, writeFile, readdir, chmod, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
const folder = await mkdtemp(join(tmpdir(), 'x-'));
await writeFile(join(folder, 'lines'), 'a\nb\nc\n');
const file = await open(join(folder, 'lines'));
for await (const line of file.readLines()) console.log(line);
await Promise.all(['1', '2', '3'].map((name) => writeFile(join(folder, name), name.repeat(10))));
console.log((await readdir(folder)).sort(), (await readFile(join(folder, '2'))).length);
await chmod(join(folder, '1'), 0o600);
await utimes(join(folder, '1'), 1, 2);
const { mode, mtimeMs } = await stat(join(folder, '1'));
console.log((mode & 0o777).toString(8), mtimeMs);
await rm(folder, { recursive: true });
await readFile(folder).catch((error) => console.log(error.code));
