export { EXIT, EXIT_MEANINGS } from "./cli-error.ts";
export type { ExitCode } from "./cli-error.ts";
export { runCli } from "./run-cli.ts";
