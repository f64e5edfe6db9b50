/**
 * The methods of the protocol. `again` says that a request may be sent a second time after the
 * connection was lost, because it changes nothing. A test compares this table with
 * proto/method/method_table.h.
 */
export const METHODS = {
	hello: { again: true },
	run: { again: false },
	check: { again: true },
	wait: { again: true },
	cancel: { again: false },
	"call.reply": { again: false },
	"session.open": { again: false },
	"session.list": { again: true },
	"session.rollback": { again: false },
	"session.keep": { again: false },
	"session.drop": { again: false },
	"session.close": { again: false },
	runtimes: { again: true },
	"blob.put": { again: false },
	"blob.get": { again: true },
	"runs.list": { again: true },
	"runs.get": { again: true },
	"runs.output": { again: true },
	"runs.replay": { again: false },
	stats: { again: true },
	"events.subscribe": { again: false },
	"policies.list": { again: true },
	"policies.show": { again: true },
	"policies.test": { again: true },
	"approvals.list": { again: true },
	"approvals.approve": { again: false },
	"approvals.deny": { again: false },
	"approvals.revoke": { again: false },
	"admin.status": { again: true },
	"health": { again: true },
	"admin.metrics": { again: true },
	"config.show": { again: true },
	"admin.acts": { again: true },
	"admin.drain": { again: false },
	"admin.resume": { again: false },
	"admin.reload": { again: false },
	"admin.kill_all": { again: false },
	"admin.block": { again: false },
	"admin.unblock": { again: false },
	"admin.gc": { again: false },
	"admin.reset_budget": { again: false },
	"budgets.list": { again: true },
	"audit.backup": { again: false },
	"audit.export": { again: true },
	"audit.verify": { again: true },
	"audit.checkpoint": { again: false },
	"audit.key": { again: true },
} as const;

/** The name of a method of the protocol. */
export type Method = keyof typeof METHODS;

/** A map of the protocol: params or a result. Its keys are those of docs/PROTOCOL.md. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Map_ = { [key: string]: any };

type Camel<S extends string> = S extends `${infer A}.${infer B}`
	? `${A}${Capitalize<Camel<B>>}`
	: S extends `${infer A}_${infer B}`
		? `${A}${Capitalize<Camel<B>>}`
		: S;

/** One function for each method but `run`, `check` and `wait`: `runs.list` is `runsList`. */
export type MethodFunctions = {
	[M in Exclude<Method, "run" | "check" | "wait"> as Camel<M>]: (params?: Map_) => Promise<Map_>;
};

/** `admin.kill_all` as a function is called `adminKillAll`. */
export const functionName = (method: string): string =>
	method.replace(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase());
