import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

const sql = statements("tickets/review-messages");

/** Whoever makes callbacks of these messages learns of news; rows are locked in the order of their ids. */
export async function noteNews(
  tx: Db,
  project: ProjectId,
  messageIds: string[],
  forgetsFailure = false,
): Promise<void> {
  await sql.noteNews.run(tx, { project, messageIds, forgetsFailure });
}

/** One of these messages that is of mode webhook, or null. */
export async function findWebhookMessage(tx: Db, project: ProjectId, messageIds: string[]): Promise<string | null> {
  const row = await sql.findWebhookMessage.one<{ id: string }>(tx, { project, messageIds });
  return row?.id ?? null;
}

/** Messages go through the pipeline again, with fresh tries; from now on counts how long they wait. */
export async function receiveAgain(tx: Db, project: ProjectId, messageIds: string[]): Promise<void> {
  await sql.receiveAgain.run(tx, { project, messageIds });
}
