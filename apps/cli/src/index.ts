export { EXIT, EXIT_MEANINGS } from "./cli.ts";
export type { ExitCode } from "./cli.ts";
export { runCli } from "./run-cli.ts";
// The measures of `svc eval`, which `eval/` uses too.
export { auroc, calibrationOf, mean, percentile, rankingScores, rejectedAt, share } from "./eval/measures.ts";
