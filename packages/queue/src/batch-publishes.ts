import type { QueueName } from "@svc/contracts";

/**
 * Batches the jobs that are published to a queue in one turn of the event loop, such as after a shared commit: `send`
 * is called once for all of them, and all publishers get its result. A batch never waits for further jobs.
 */
export function batchPublishes<Job>(
  send: (name: QueueName, jobs: Job[]) => Promise<void>,
): (name: QueueName, jobs: readonly Job[]) => Promise<void> {
  const open = new Map<QueueName, { jobs: Job[]; sent: Promise<void> }>();

  /** Sends the batch after everything that can continue without waiting has run. */
  async function sendLater(name: QueueName, jobs: Job[]): Promise<void> {
    await new Promise<void>((resolve) => {
      process.nextTick(resolve);
    });
    open.delete(name);
    await send(name, jobs);
  }

  return (name, jobs) => {
    const known = open.get(name);
    if (known !== undefined) {
      known.jobs.push(...jobs);
      return known.sent;
    }
    const joined = [...jobs];
    const sent = sendLater(name, joined);
    open.set(name, { jobs: joined, sent });
    return sent;
  };
}
