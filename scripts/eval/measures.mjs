// The measures of `svc eval`: they are written once.
export { auroc, calibrationOf, mean, rankingScores, rejectedAt, share } from "../../apps/cli/dist/eval/measures.js";
