import type { IncomingAnnouncement } from "./incoming.ts";
import type { Queues } from "./open-queues.ts";

/**
 * Announces committed issues to the pipeline, as `publishIncoming` does messages: a job that still waits is not doubled,
 * and one that was lost or used up can be published again.
 */
export async function publishIssues(queues: Queues, issues: readonly IncomingAnnouncement[]): Promise<void> {
  await queues.publish(
    "submitted-issues",
    issues.map(({ project, messageId, ticketId, attempts }) => ({
      id: `${messageId}-${attempts}`,
      data: { project, messageId, ticketId },
    })),
  );
}
