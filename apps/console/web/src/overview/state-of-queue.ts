import type { QueueHealth } from "@svc/contracts";

/** How a queue is: as it should be, later than it should be, or with something that somebody has to look at. */
export type QueueState = "good" | "slow" | "failed";

/** What is due and waits longer than that is late. */
const SLOW_MS = 60_000;

/** How a queue is at this time. What was given up says more than what is late. */
export function stateOfQueue({ failed, oldestDueAt }: QueueHealth, nowMs: number): QueueState {
  if (failed > 0) return "failed";
  return oldestDueAt !== null && nowMs - Date.parse(oldestDueAt) > SLOW_MS ? "slow" : "good";
}
