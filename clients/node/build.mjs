// Builds dist/esm and dist/cjs from src/, with types: node build.mjs
// `npm install ./clients/node` does that, too.  It fetches the compiler first, by the lockfile.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const tsc = join(here, "node_modules/typescript/bin/tsc");
if (!existsSync(tsc))
	execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: here, stdio: "inherit" });

const compile = (...options) =>
	execFileSync(process.execPath, [tsc, "-p", here, ...options], { stdio: "inherit" });

rmSync(join(here, "dist"), { recursive: true, force: true });
compile();
compile("--module", "CommonJS", "--moduleResolution", "Node10", "--outDir", join(here, "dist/cjs"));
mkdirSync(join(here, "dist/cjs"), { recursive: true });
writeFileSync(join(here, "dist/cjs/package.json"), '{ "type": "commonjs" }\n');
