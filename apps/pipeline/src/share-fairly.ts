/** Work that belongs to somebody. */
export interface SharedJob {
  project: string;
  ticketId: string;
}

/** So much waits in memory for each project; what is beyond that, the sweeper finds again. */
const MAX_WAITING = 1_000;

interface Lane<Job> {
  running: number;
  /** By ticket, in the order in which they came. */
  waiting: Map<string, Job>;
}

/**
 * Makes a consumer that works on at most so many jobs of a project at once, so that slow ones of one project leave
 * places for those of the others. What is beyond that keeps no place of the queue's: its job ends at once and waits in
 * memory until one of its project is done. Idempotent as `work` is; what is lost with the process was never claimed, and
 * the sweeper announces it again. Rejects with the first fault of `work`, after the rest is done.
 */
export function shareFairly<Job extends SharedJob>(
  work: (job: Job) => Promise<void>,
  perProject: number,
): (job: Job) => Promise<void> {
  const lanes = new Map<string, Lane<Job>>();

  function takeNext({ waiting }: Lane<Job>): Job | null {
    const [next = null] = waiting.values();
    if (next !== null) waiting.delete(next.ticketId);
    return next;
  }

  return async function consume(job) {
    const lane = lanes.get(job.project) ?? { running: 0, waiting: new Map<string, Job>() };
    lanes.set(job.project, lane);
    if (lane.running >= perProject) {
      if (lane.waiting.size < MAX_WAITING) lane.waiting.set(job.ticketId, job);
      return;
    }
    lane.running += 1;
    // Of a long row of faults the first says why; what has failed is found again by the sweeper, each with its own.
    let fault: { error: unknown } | null = null;
    for (let next: Job | null = job; next !== null; next = takeNext(lane)) {
      try {
        await work(next);
      } catch (error) {
        fault ??= { error };
      }
    }
    lane.running -= 1;
    if (lane.running === 0 && lane.waiting.size === 0) lanes.delete(job.project);
    if (fault !== null) throw fault.error;
  };
}
