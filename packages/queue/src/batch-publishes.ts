import type { QueueName } from "@svc/contracts";

/**
 * Joins what is published to a queue in one turn of the event loop, which is what one shared commit has let go: `send`
 * is called once for all of it, and its outcome is everyone's. Nobody waits for others to come.
 */
export function batchPublishes<Job>(
  send: (name: QueueName, jobs: Job[]) => Promise<void>,
): (name: QueueName, jobs: readonly Job[]) => Promise<void> {
  const open = new Map<QueueName, { jobs: Job[]; sent: Promise<void> }>();

  /** Once everything that can go on without waiting has done so. */
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
