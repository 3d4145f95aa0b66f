import type { IncomingJob } from "@svc/contracts";
import { openQueues } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { createTestDatabase, createTestQueueBackend, testLog } from "@svc/testing";

/** Separate queues on the servers of this run. */
export interface TestQueues {
  readonly databaseUrl: string;
  /** Opens them like another process; `close` closes all that are still open. */
  open(prefix?: string): Queues;
  close(): Promise<void>;
}

/** Prepares a database and a prefix for queues. Close it in `afterAll`. */
export async function openTestQueues(): Promise<TestQueues> {
  const database = await createTestDatabase();
  const backend = await createTestQueueBackend();
  const opened = new Set<Queues>();
  return {
    databaseUrl: database.url,
    open(prefix = backend.prefix) {
      const queues = openQueues({ databaseUrl: database.url, redisUrl: backend.redisUrl, prefix, log: testLog() });
      const tracked: Queues = {
        ...queues,
        close() {
          opened.delete(tracked);
          return queues.close();
        },
      };
      opened.add(tracked);
      return tracked;
    },
    async close() {
      await Promise.all([...opened].map((queues) => queues.close()));
      await backend.stop();
      await database.drop();
    },
  };
}

/** Returns a job as a channel publishes it; the message id identifies jobs. */
export function incomingJob(messageId: string): IncomingJob {
  return { project: "project", messageId, ticketId: `ticket-of-${messageId}` };
}
