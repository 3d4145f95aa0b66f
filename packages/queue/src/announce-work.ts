import type { DeliveryJob, EmailJob, IncomingJob, IngestJob, ModelPullJob, ReviewJob } from "@svc/contracts";
import type { JobToPublish, Queues } from "./queues.ts";

/** Work whose announcements are numbered by attempt.  */
interface Attempted {
  attempts: number;
}

/** Work that is announced for the first time, or by the repetition of that call, may share a job. */
interface Announced {
  isNew?: boolean;
  /** True if no caller waits for the result. */
  mayWait?: boolean;
}

/** The data that announces work, by queue: its job, and what distinguishes it from other jobs for the same work. */
export interface Announcements {
  "incoming-messages": IncomingJob & Attempted & Announced;
  "submitted-issues": IncomingJob & Attempted;
  /** `mark` is the version of the ticket after the decision, or the decision's id with its count of attempts. */
  "review-decisions": ReviewJob & { mark: string };
  "ingest-documents": IngestJob & Attempted;
  /** A model can be pulled again: `pullId` identifies this pull. */
  "model-pulls": ModelPullJob & Attempted & { pullId: string };
  "webhook-deliveries": DeliveryJob & { deliveryId: string; tries: number };
  /** `mark` is the time at which the email became due. */
  emails: EmailJob & { mark: string };
}

/** A queue of leased work. */
export type AnnouncedQueue = keyof Announcements;

const incoming = ({
  project,
  messageId,
  ticketId,
  attempts,
  priority = 0,
  isNew = false,
  mayWait = false,
}: IncomingJob & Attempted & Announced) => {
  const backlog = priority === 0 ? {} : { priority };
  return {
    id: `${messageId}-${attempts}`,
    data: { project, messageId, ticketId, ...backlog },
    ...(isNew ? { mayShare: true } : {}),
    ...(mayWait ? { mayWait } : {}),
    ...backlog,
  };
};

/**
 * Jobs that announce work. The id includes the number of attempts, so that a lost or completed job can be published
 * again.
 */
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
 * Announces committed work to its consumers. Announcements of the same attempt are one job while that job waits.
 * Rejects with QueueDownError if the queue is unavailable; a sweeper then announces the work again.
 */
export async function announceWork<Name extends AnnouncedQueue>(
  queues: Pick<Queues, "publish">,
  name: Name,
  work: readonly Announcements[Name][],
): Promise<void> {
  if (work.length > 0) await queues.publish(name, work.map(JOBS[name]));
}
