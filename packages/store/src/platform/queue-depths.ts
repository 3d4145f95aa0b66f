import { ISSUE_CHAT_PREFIX } from "@svc/contracts";
import type { Db } from "../db.ts";
import { statements } from "../sql.ts";

/** What is worked on by itself, over all projects. */
export const DEPTH_QUEUES = [
  "messages",
  "issues",
  "decisions",
  "replies",
  "callbacks",
  "documents",
  "messenger_updates",
  "model_pulls",
] as const;
export type DepthQueue = (typeof DEPTH_QUEUES)[number];

/** How a queue of the installation is now. */
export interface QueueDepth {
  queue: DepthQueue;
  /** What is not done yet, being worked on and put off included. */
  waiting: number;
  /** Of these, what could be done now or is being done. */
  due: number;
  /** How long what has waited longest could have been done, in seconds; 0 where nothing is due. */
  oldestDueAgeS: number;
  /** Dead letters; null where a queue has none, or no index that counts them. */
  dead: number | null;
}

/** Rows of a queue that are looked at: one that is longer is said to be as long as this, and its age is a lower bound. */
const LOOK_MAX = 100_000;

/** Summed over what waits, from when on each could be done: `at`. */
const waits = (queue: DepthQueue, rows: string) => `
  SELECT '${queue}' AS queue, count(*)::int AS waiting, (count(*) FILTER (WHERE at <= now()))::int AS due,
    coalesce(extract(epoch FROM now() - min(at) FILTER (WHERE at <= now())), 0)::float8 AS age
  FROM (${rows} LIMIT ${LOOK_MAX}) ${queue}`;

const countOf = (rows: string) => `(SELECT count(*)::int FROM (SELECT 1 FROM ${rows} LIMIT ${LOOK_MAX}) dead)`;

const sql = statements("platform/queue-depths", {
  lookMax: LOOK_MAX,
  waits: waits("messages", "SELECT at FROM received WHERE NOT is_issue"),
  waits2: waits("issues", "SELECT at FROM received WHERE is_issue"),
  waits3: waits("decisions", "SELECT greatest(created_at, not_before) AS at FROM reviews WHERE finished_at IS NULL"),
  waits4: waits("replies", "SELECT next_at AS at FROM outboxes WHERE settled_seq < wanted_seq"),
  waits5: waits("callbacks", "SELECT greatest(created_at, next_at) AS at FROM deliveries WHERE state = 'pending'"),
  waits6: waits("documents", "SELECT greatest(created_at, next_at) AS at FROM ingests"),
  waits7: waits(
    "messenger_updates",
    "SELECT greatest(received_at, next_at) AS at FROM messenger_updates WHERE state = 'waiting'",
  ),
  waits8: waits("model_pulls", "SELECT greatest(started_at, next_at) AS at FROM model_pulls WHERE state = 'running'"),
  countOf: countOf("messages WHERE state = 'failed' AND covered_by IS NULL"),
  countOf2: countOf("replies WHERE is_dead"),
  countOf3: countOf("deliveries WHERE state = 'dead'"),
  countOf4: countOf("messenger_updates WHERE state = 'dead'"),
});

/** Every queue, by one statement. */
export async function read(db: Db): Promise<QueueDepth[]> {
  const rows = await sql.depths.all<{
    queue: DepthQueue;
    waiting: number;
    due: number;
    age: number;
    dead: number | null;
  }>(db, { issueChatPrefix: ISSUE_CHAT_PREFIX });
  return rows.map(({ age, ...row }) => ({ ...row, oldestDueAgeS: age }));
}
