import { existsSync } from "node:fs";
import { join } from "node:path";

/** Where the daemon listens: CED_SOCKET, else the private daemon of this user, else the host's. */
export function socketPath(env: NodeJS.ProcessEnv = process.env): string {
	if (env.CED_SOCKET) return env.CED_SOCKET;
	const own = env.XDG_RUNTIME_DIR ? join(env.XDG_RUNTIME_DIR, "ced/ced.sock") : "";
	return own && existsSync(own) ? own : "/run/ced/ced.sock";
}
