import type { AcceptedMessage } from "@svc/contracts";

/** A committed message, and where its job belongs among those of other projects. */
export interface PrioritizedMessage extends AcceptedMessage {
  /** 0 unless its project has a backlog; then the higher, the longer the backlog (`createPriorities`). */
  priority: number;
}

/** Unfinished messages of a project before it has a backlog: about those that one worker processes concurrently. */
const BACKLOG_FROM = 100;

/** Unfinished messages of a project that are counted. Longer backlogs have the same priority. */
export const COUNTED_BACKLOG = 1_000;

/**
 * Returns a function that returns the priority of the job of each of the messages that are accepted together, in their order:
 * `ahead` is how many messages of the project were unfinished before all of them. Jobs of priority 0 go first, in their order,
 * and the others by their number: a project that floods waits behind the others, and two that do take turns.
 */
export function createPriorities(): (project: string, ahead: number) => number {
  const next = new Map<string, number>();
  return (project, ahead) => {
    const before = next.get(project) ?? ahead;
    next.set(project, before + 1);
    return Math.max(0, Math.min(before, COUNTED_BACKLOG) - BACKLOG_FROM);
  };
}
