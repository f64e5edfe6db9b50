import { existsSync } from "node:fs";
import { join } from "node:path";

/** Where the daemon may listen, in the order of trying: CED_SOCKET alone, else this user's daemon and the host's. */
export function socketPlaces(env: NodeJS.ProcessEnv = process.env): string[] {
	if (env.CED_SOCKET) return [env.CED_SOCKET];
	const own = env.XDG_RUNTIME_DIR ? [join(env.XDG_RUNTIME_DIR, "ced/ced.sock")] : [];
	return [...own, "/run/ced/ced.sock"];
}

/** Where the daemon listens: the first of these places that is there, else the last. */
export function socketPath(env: NodeJS.ProcessEnv = process.env): string {
	const places = socketPlaces(env);
	return places.find((path) => existsSync(path)) ?? places[places.length - 1]!;
}
