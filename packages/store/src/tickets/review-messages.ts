import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";

/** Whoever makes callbacks of these messages learns of news; rows are locked in the order of their ids. */
export async function noteNews(
  tx: Db,
  project: ProjectId,
  messageIds: string[],
  forgetsFailure = false,
): Promise<void> {
  await tx.query(
    `WITH called AS MATERIALIZED (
       SELECT message_id FROM callbacks WHERE project_id = $1 AND message_id = ANY ($2::uuid[])
       ORDER BY message_id FOR UPDATE
     )
     UPDATE callbacks cb SET has_news = true, news_at = now(),
       told = CASE WHEN $3 AND cb.told = 'message.failed' THEN NULL ELSE cb.told END
     FROM called WHERE cb.message_id = called.message_id`,
    [project, messageIds, forgetsFailure],
  );
}

/** One of these messages that is of mode webhook, or null. */
export async function findWebhookMessage(tx: Db, project: ProjectId, messageIds: string[]): Promise<string | null> {
  const [row] = await tx.query<{ id: string }>(
    "SELECT id FROM messages WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND mode = 'webhook' ORDER BY seq LIMIT 1",
    [project, messageIds],
  );
  return row?.id ?? null;
}

/** Messages go through the pipeline again, with fresh tries; from now on counts how long they wait. */
export async function receiveAgain(tx: Db, project: ProjectId, messageIds: string[]): Promise<void> {
  await tx.query(
    `UPDATE messages SET state = 'received', attempts = 0, not_before = now(), due_at = now(), finished_at = NULL,
       progress = NULL, expired_leases = NULL, covered_by = NULL
     WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND state IN ('held', 'failed')`,
    [project, messageIds],
  );
}
