import type { DeliveryJob, EmailJob, IncomingJob, IngestJob, ModelPullJob, ReviewJob } from "@svc/contracts";
import type { JobToPublish, Queues } from "./queues.ts";

/** Work that is announced with its count of attempts. */
interface Attempted {
  attempts: number;
}

/** Work of which one project may have much more than the others. */
interface Prioritized {
  /** 0, or absent: first, in the order of publication. The higher, the later. */
  priority?: number;
}

/** What announces work, by queue: its job, and what distinguishes it from other jobs of the same work. */
export interface Announcements {
  "incoming-messages": IncomingJob & Attempted & Prioritized;
  "submitted-issues": IncomingJob & Attempted & Prioritized;
  /** `mark` is the version of the ticket after the decision, or the decision's id with its count of attempts. */
  "review-decisions": ReviewJob & { mark: string };
  "ingest-documents": IngestJob & Attempted;
  /** A model can be pulled again: `pullId` says which pull this is. */
  "model-pulls": ModelPullJob & Attempted & { pullId: string };
  "webhook-deliveries": DeliveryJob & { deliveryId: string; tries: number };
  /** `mark` is the time at which the email became due. */
  emails: EmailJob & { mark: string };
}

/** A queue of leased work. */
export type AnnouncedQueue = keyof Announcements;

const incoming = ({ project, messageId, ticketId, attempts, priority = 0 }: IncomingJob & Attempted & Prioritized) => ({
  id: `${messageId}-${attempts}`,
  data: { project, messageId, ticketId },
  ...(priority === 0 ? {} : { priority }),
});

/** The job that announces work. Its id has the count of attempts, so that a lost or used job can be published again. */
const JOBS: { [Name in AnnouncedQueue]: (work: Announcements[Name]) => JobToPublish<Name> } = {
  "incoming-messages": incoming,
  "submitted-issues": incoming,
  "review-decisions": ({ project, ticketId, mark }) => ({ id: `${ticketId}-${mark}`, data: { project, ticketId } }),
  "ingest-documents": ({ project, ingestId, attempts }) => ({
    id: `${ingestId}-${attempts}`,
    data: { project, ingestId },
  }),
  "model-pulls": ({ catalogId, pullId, attempts }) => ({ id: `${pullId}-${attempts}`, data: { catalogId } }),
  "webhook-deliveries": ({ project, ticketId, deliveryId, tries }) => ({
    id: `${deliveryId}-${tries}`,
    data: { project, ticketId },
  }),
  emails: ({ recipientId, mark }) => ({ id: `${recipientId}-${mark}`, data: { recipientId } }),
};

/**
 * Announces committed work to its consumers. The same attempt announced twice while its job waits is one job. Rejects with
 * QueueDownError if the queue takes no jobs; a sweeper announces the work again.
 */
export async function announceWork<Name extends AnnouncedQueue>(
  queues: Pick<Queues, "publish">,
  name: Name,
  work: readonly Announcements[Name][],
): Promise<void> {
  if (work.length > 0) await queues.publish(name, work.map(JOBS[name]));
}
