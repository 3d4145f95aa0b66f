import { PUSHING_CHANNELS, REPLY_QUEUES } from "@svc/contracts";
import type { ChannelId, QueueJobs, QueueName, ReplyJob } from "@svc/contracts";
import type { QueueBackend, WakeUps } from "./backend.ts";
import type { Counters } from "./counters.ts";

/** A running consumer. */
export interface Consumer {
  /** Limits the consumer to this share (above 0, at most 1) of its concurrency, at least one job. */
  setShare(share: number): void;
  /**
   * Accepts no further job and waits for the running ones. After `deadlineMs` their signals are aborted; jobs that
   * still run a second later are left to the stalled check of another worker.
   */
  close(deadlineMs: number): Promise<void>;
}

/** One job to publish. */
export interface JobToPublish<Name extends QueueName> {
  /** While BullMQ has a job with this id, publishing it again has no effect. No colon, not only digits. */
  id: string;
  data: QueueJobs[Name];
  /**
   * From 1: higher values are processed later. Absent: before all jobs with a priority, in the order of publication.
   */
  priority?: number;
  /**
   * True if one job may carry it together with others of the same batch. BullMQ then does not know it by its id.
   */
  mayShare?: boolean;
  /** True if no caller waits for its result: under load, it is sent up to 20 ms later, together with others. */
  mayWait?: boolean;
}

/** The open queues of a process. */
export interface Queues {
  readonly backend: QueueBackend["name"];
  /** Returns true if jobs can be published now. */
  isUp(): boolean;
  /**
   * Publishes jobs; rejects with QueueDownError if the backend is unavailable or rejects them. Jobs that are published
   * in one turn of the event loop, or wait for each other (`mayWait`), are sent together and fail together; some of them may
   * still be stored then.
   */
  publish<Name extends QueueName>(name: Name, jobs: JobToPublish<Name>[]): Promise<void>;
  /**
   * Consumes a queue as soon as it is reachable, across reconnects, until closed. The job of a handler that rejects is
   * retried; jobs may be duplicated, so handlers are idempotent.
   */
  consume<Name extends QueueName>(
    name: Name,
    handle: (data: QueueJobs[Name], signal: AbortSignal) => Promise<void>,
    options?: { concurrency?: number },
  ): Consumer;
  readonly wakeUps: WakeUps;
  /** Counters that all processes share. */
  readonly counters: Counters;
  /** Counts waiting, active and delayed jobs. */
  countJobs(name: QueueName): Promise<{ waiting: number; active: number; delayed: number }>;
  /**
   * Describes what is wrong with the server's settings; null if nothing is, or if it does not respond within `limitMs`.
   */
  findPolicyProblem(limitMs: number): Promise<string | null>;
  close(): Promise<void>;
}

/** A knowledge base or a project was deleted, or a project's retention period changed: data can be removed. */
const REMOVALS = "deletions";
/** The unfinished reply of a conversation has grown. */
const TEXTS = "unfinished-replies";
/** Operators have opened or left a ticket, or started or stopped typing there. */
const PRESENCE = "console-presence";
/** The visitor of a conversation is writing. */
const VISITOR_TYPING = "visitor-typing";

/**
 * Wakes up the sweeps that remove the content of this deleted object, the data of this project that is past its
 * retention period, or the files of people who were erased from it, on every replica. The wake-up may be lost.
 */
export function announceRemoval(queues: Pick<Queues, "wakeUps">, id: string): void {
  queues.wakeUps.send(REMOVALS, [id]);
}

/** Calls `onRemoval` after each announcement, until the returned function is called. */
export function followRemovals(queues: Pick<Queues, "wakeUps">, onRemoval: () => void): () => void {
  return queues.wakeUps.listen(REMOVALS, onRemoval);
}

/** Wakes up the streams that show the unfinished reply of a conversation, on every replica. The wake-up may be lost. */
export function announceText(queues: Queues, ticketId: string): void {
  queues.wakeUps.send(TEXTS, [ticketId]);
}

/** Calls `onText` with the conversations whose unfinished reply has grown, until the returned function is called. */
export function followTexts(queues: Pick<Queues, "wakeUps">, onText: (ticketIds: string[]) => void): () => void {
  return queues.wakeUps.listen(TEXTS, onText);
}

/** Makes every replica that shows these tickets refetch which operators are there. The wake-up may be lost. */
export function announcePresence(queues: Pick<Queues, "wakeUps">, ticketIds: string[]): void {
  queues.wakeUps.send(PRESENCE, ticketIds);
}

/**
 * Calls `notify` with the tickets on which operators have arrived, left or started typing, until the returned function
 * is called.
 */
export function followPresence(queues: Pick<Queues, "wakeUps">, notify: (ticketIds: string[]) => void): () => void {
  return queues.wakeUps.listen(PRESENCE, notify);
}

/**
 * Notifies the consoles on every replica that the visitor of a conversation is typing. The notification may be lost.
 */
export function announceVisitorTyping(queues: Pick<Queues, "wakeUps">, ticketId: string): void {
  queues.wakeUps.send(VISITOR_TYPING, [ticketId]);
}

/** Calls `notify` with the conversations in which a visitor is typing, until the returned function is called. */
export function followVisitorTyping(
  queues: Pick<Queues, "wakeUps">,
  notify: (ticketIds: string[]) => void,
): () => void {
  return queues.wakeUps.listen(VISITOR_TYPING, notify);
}

/** Maximum number of chats with new replies that one job announces. */
const MAX_REPLIES = 100;
/** Maximum number of messages that one job announces: few enough for several workers to share those of one moment. */
const MAX_MESSAGES = 8;

const PUSHING: readonly QueueName[] = PUSHING_CHANNELS.map((channel) => REPLY_QUEUES[channel]);
const BUNDLED = new Set<QueueName>(Object.values(REPLY_QUEUES).filter((name) => !PUSHING.includes(name)));

/**
 * Announces committed replies on the queue of the conversation's channel. Announcements of the same range are one job
 * while that job waits.
 */
export async function announceReply(
  queues: Pick<Queues, "publish">,
  channelId: ChannelId,
  job: ReplyJob,
): Promise<void> {
  const id = `${job.messageId ?? job.ticketId}-${job.fromSeq}-${job.toSeq}`;
  await queues.publish(REPLY_QUEUES[channelId], [{ id, data: job }]);
}

/**
 * Returns the jobs to publish: one for several costs less than one for each. Messages with a priority share a job
 * only with those of their project, and it has the lowest of their values. A channel that pushes works on
 * each chat separately, and gets a job for each.
 */
export function bundleJobs(name: QueueName, jobs: JobToPublish<QueueName>[]): JobToPublish<QueueName>[] {
  const isForReplies = BUNDLED.has(name);
  const most = isForReplies ? MAX_REPLIES : MAX_MESSAGES;
  const bundles: JobToPublish<QueueName>[] = [];
  const groups = new Map<string, JobToPublish<QueueName>[]>();
  for (const job of jobs) {
    if (!isForReplies && job.mayShare !== true) {
      bundles.push(job);
      continue;
    }
    const key = job.priority !== undefined && "project" in job.data ? job.data.project : "";
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(job);
  }
  for (const unsorted of groups.values()) {
    const group = unsorted.toSorted((one, other) => (one.priority ?? 0) - (other.priority ?? 0));
    for (let at = 0; at < group.length; at += most) {
      const [first, ...others] = group.slice(at, at + most);
      if (first === undefined) break;
      const last = others.at(-1);
      const data = { ...first.data, others: others.map((job) => job.data) };
      bundles.push(last === undefined ? first : { ...first, id: `${first.id}--${last.id}`, data });
    }
  }
  return bundles;
}

/** Returns all that a job announces. */
export function jobsOf<Job extends object>({ others = [], ...first }: Job & { others?: Omit<Job, "others">[] }) {
  return [first, ...others] as Omit<Job, "others">[];
}
