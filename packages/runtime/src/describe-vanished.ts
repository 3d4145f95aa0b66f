import type { VanishedProcess } from "@svc/store";

/** From this share of its limit on, the limit is what has most likely killed a process. */
const NEAR = 0.8;
const MB = 1_000_000;

const asMb = (bytes: number) => Math.round(bytes / MB);

/**
 * Says in words that a process has ended without a stop, and what is likely to have ended it. The number is what it used when
 * it was last heard of, up to five seconds before its end.
 */
export function describeVanished(gone: VanishedProcess): string {
  const { app, host, pid, heardAt, memoryBytes, memoryLimitBytes } = gone;
  const who = `The ${app} on ${host} (process ${pid}) last reported at ${heardAt.toISOString()} and did not shut down cleanly`;
  const used =
    memoryLimitBytes === null
      ? `It used ${asMb(memoryBytes)} MB`
      : `It used ${asMb(memoryBytes)} of ${asMb(memoryLimitBytes)} MB`;
  if (memoryLimitBytes !== null && memoryBytes >= memoryLimitBytes * NEAR)
    return `${who}: it probably ran out of memory and was killed. ${used}. Raise the limit (SVC_MEMORY_LIMIT), or run more replicas.`;
  return `${who}: it was killed (by kill -9, or because of its memory usage), crashed, or cannot reach the database. ${used}.`;
}
