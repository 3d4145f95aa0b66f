import type { Environment } from "./cli.ts";

/** The environment with this log level, unless it names one itself. */
export function withLogLevel(env: Environment, level: "silent" | "warn"): Environment {
  const isSet = [env["SVC_LOG_LEVEL"], env["SVC_LOG_LEVEL_FILE"]].some((value) => value !== undefined && value !== "");
  return isSet ? env : { ...env, SVC_LOG_LEVEL: level };
}
