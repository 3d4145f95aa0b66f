export { LOG_LEVELS, createLog, redactText } from "./create-log.ts";
export type { Log, LogLevel } from "./create-log.ts";
