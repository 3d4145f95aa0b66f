/** What is limited by its project. */
export interface ProjectWork {
  project: string;
  ticketId: string;
}

/** Jobs that wait in memory for each project; the sweeper announces what is beyond that again. */
const MAX_WAITING = 1_000;

interface ProjectState<Job> {
  running: number;
  /** By ticket, in the order of arrival. */
  waiting: Map<string, Job>;
}

/**
 * Limits how many jobs of a project `work` processes concurrently, so that slow ones of one project do not delay those of the
 * others. Jobs over the limit wait in memory until one of their project is done, and do not occupy a worker slot: they complete
 * at once. Idempotent as `work` is; what is lost with the process was never claimed, and the sweeper announces it again.
 * Rejects with the first error of `work`, after the rest is done.
 */
export function limitPerProject<Job extends ProjectWork>(
  work: (job: Job) => Promise<void>,
  perProject: number,
): (job: Job) => Promise<void> {
  const projects = new Map<string, ProjectState<Job>>();

  function nextOf({ waiting }: ProjectState<Job>): Job | null {
    const [next = null] = waiting.values();
    if (next !== null) waiting.delete(next.ticketId);
    return next;
  }

  return async function consume(job) {
    const state = projects.get(job.project) ?? { running: 0, waiting: new Map<string, Job>() };
    projects.set(job.project, state);
    if (state.running >= perProject) {
      if (state.waiting.size < MAX_WAITING) state.waiting.set(job.ticketId, job);
      return;
    }
    state.running += 1;
    // Only the first error is thrown. The sweeper retries all failed jobs, each of which then reports its own error.
    let failed: { error: unknown } | null = null;
    for (let next: Job | null = job; next !== null; next = nextOf(state)) {
      try {
        await work(next);
      } catch (error) {
        failed ??= { error };
      }
    }
    state.running -= 1;
    if (state.running === 0 && state.waiting.size === 0) projects.delete(job.project);
    if (failed !== null) throw failed.error;
  };
}
