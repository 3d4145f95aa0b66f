import { ISSUE_CHAT_PREFIX } from "@svc/contracts";
import type { Db } from "../db.ts";

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

/** Gives each row of what waits, and stops at the limit before it looks for its chat. */
const MESSAGES = `
  SELECT greatest(m.created_at, m.not_before) AS at,
    c.channel_id = 'api' AND starts_with(coalesce(c.chat_id, ''), $1) AS is_issue
  FROM (SELECT ticket_id, created_at, not_before FROM messages WHERE state = 'received' LIMIT ${LOOK_MAX}) m
  JOIN chats c ON c.ticket_id = m.ticket_id`;

// Each queue is read by the partial index of what is not done, so that this costs what waits and not what was done. It
// locks nothing.
const DEPTHS = `
  WITH received AS MATERIALIZED (${MESSAGES}), depth AS (
    ${waits("messages", "SELECT at FROM received WHERE NOT is_issue")}
    UNION ALL ${waits("issues", "SELECT at FROM received WHERE is_issue")}
    UNION ALL ${waits("decisions", "SELECT greatest(created_at, not_before) AS at FROM reviews WHERE finished_at IS NULL")}
    UNION ALL ${waits("replies", "SELECT next_at AS at FROM outboxes WHERE settled_seq < wanted_seq")}
    UNION ALL ${waits("callbacks", "SELECT greatest(created_at, next_at) AS at FROM deliveries WHERE state = 'pending'")}
    UNION ALL ${waits("documents", "SELECT greatest(created_at, next_at) AS at FROM ingests")}
    UNION ALL ${waits("messenger_updates", "SELECT greatest(received_at, next_at) AS at FROM messenger_updates WHERE state = 'waiting'")}
    UNION ALL ${waits("model_pulls", "SELECT greatest(started_at, next_at) AS at FROM model_pulls WHERE state = 'running'")}
  )
  SELECT depth.*, CASE queue
    WHEN 'messages' THEN ${countOf("messages WHERE state = 'failed' AND covered_by IS NULL")}
    WHEN 'replies' THEN ${countOf("replies WHERE is_dead")}
    WHEN 'callbacks' THEN ${countOf("deliveries WHERE state = 'dead'")}
    WHEN 'messenger_updates' THEN ${countOf("messenger_updates WHERE state = 'dead'")}
  END AS dead
  FROM depth`;

/** How much there is to do in the whole installation, for those who watch over it. */
export function queueDepthsOf(db: Db) {
  return {
    /** Every queue, by one statement. */
    async read(): Promise<QueueDepth[]> {
      const rows = await db.query<{
        queue: DepthQueue;
        waiting: number;
        due: number;
        age: number;
        dead: number | null;
      }>(DEPTHS, [ISSUE_CHAT_PREFIX]);
      return rows.map(({ age, ...row }) => ({ ...row, oldestDueAgeS: age }));
    },
  };
}
