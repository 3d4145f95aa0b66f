import type { IncomingJob } from "@svc/contracts";
import type { Queues } from "./open-queues.ts";

/** A message to announce, with how often it has been tried. */
export interface IncomingAnnouncement extends IncomingJob {
  attempts: number;
}

/**
 * Announces committed messages to the pipeline. The job's id is the message's with its count of tries, so that a job
 * that still waits is not doubled, and one that was lost or used up can be published again.
 */
export async function publishIncoming(queues: Queues, messages: IncomingAnnouncement[]): Promise<void> {
  await queues.publish(
    "incoming-messages",
    messages.map(({ project, messageId, ticketId, attempts }) => ({
      id: `${messageId}-${attempts}`,
      data: { project, messageId, ticketId },
    })),
  );
}
