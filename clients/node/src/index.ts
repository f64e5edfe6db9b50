export { Client, run, type ClientOptions } from "./client.js";
export { Connection } from "./connection.js";
export { Core, type Incoming } from "./core.js";
export * from "./errors.js";
export { artifact, saveArtifacts, saveStream, type Files, type FileSpec, type Source } from "./files.js";
export { functionName, METHODS, type Map_, type Method, type MethodFunctions } from "./methods.js";
export {
	RunStream, type Artifact, type Cell, type Display, type Finding, type Pending, type ProgramError, type Result,
	type RunEvent, type RunOptions, type RunParams, type Verdict,
} from "./run.js";
export type { JsonSchema, Parser, Schema } from "./schema.js";
export { Session } from "./session.js";
export type { CallContext, Tool, Tools } from "./tools.js";
