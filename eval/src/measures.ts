// The measures of `svc eval`: they are written once.
export {
  auroc,
  calibrationOf,
  mean,
  percentile,
  rankingScores,
  rejectedAt,
  share,
} from "../../apps/cli/dist/eval/measures.js";
