import type { Agent } from "@svc/contracts";

/** Whether an answer with this confidence would go out without a person. */
export function sendsAlone(
  { autoThreshold, reviewPolicy }: Pick<Agent, "autoThreshold" | "reviewPolicy">,
  confidence: number,
): boolean {
  return reviewPolicy === "auto" || (reviewPolicy === "auto_if" && confidence >= autoThreshold);
}
