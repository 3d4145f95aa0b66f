export { EXIT, EXIT_MEANINGS } from "./exit-codes.ts";
export type { ExitCode } from "./exit-codes.ts";
export { runCli } from "./run-cli.ts";
