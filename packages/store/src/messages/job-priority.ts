import type { AcceptedMessage } from "@svc/contracts";

/** A committed message, with the priority of its job relative to other projects. */
export interface PrioritizedMessage extends AcceptedMessage {
  /** 0 unless its project has a backlog; higher for a longer backlog (`createPriorities`). */
  priority: number;
}

/** Unfinished messages from which a project has a backlog: about as many as one worker processes concurrently. */
const BACKLOG_FROM = 100;

/** Maximum of unfinished messages that are counted. Longer backlogs have the same priority. */
export const COUNTED_BACKLOG = 1_000;

/**
 * Returns a function that returns the priorities of messages that are accepted together, in their order: `ahead` is the
 * number of the project's unfinished messages before them. Jobs of priority 0 go first, in their order, and the others
 * by their number: a project with a flood of messages waits behind the others, and two such projects take turns.
 */
export function createPriorities(): (project: string, ahead: number) => number {
  const next = new Map<string, number>();
  return (project, ahead) => {
    const before = next.get(project) ?? ahead;
    next.set(project, before + 1);
    return Math.max(0, Math.min(before, COUNTED_BACKLOG) - BACKLOG_FROM);
  };
}
