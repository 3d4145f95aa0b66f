import { batched } from "../batcher.ts";
import type { ProjectId } from "../ids.ts";
import type { LeaseRef } from "./chats.ts";
import { IS_CALL_OVER } from "./replies.ts";
import { statements } from "../sql.ts";
import type { Context } from "../context.ts";

/** The message of a chat that is being answered, and what its answer says so far. */
export interface UnfinishedReply {
  messageId: string;
  /** Null while nothing of it can be shown. */
  text: string | null;
  /** True when its reply will be collected from the buffer; else a call waits for it, or it goes by callback. */
  isCollected: boolean;
}

/** What the text of a message's answer is, for the holder of the chat's lease. */
export interface UnfinishedText extends LeaseRef {
  messageId: string;
  text: string;
}

/** A text that nobody has added to for so long is no longer being written, or comes again with its next piece. */
const KEPT_SECONDS = 60;

const sql = statements("messages/unfinished-replies", {
  isCallOver: IS_CALL_OVER,
  keptSeconds: KEPT_SECONDS,
});

const writeBatched = batched<Context, UnfinishedText, boolean>(
  async (context: Context, items) => {
    const rows = await sql.write.all<{ messageId: string }>(context.leases, {
      projectId: items.map((item) => item.project),
      ticketId: items.map((item) => item.ticketId),
      leaseId: items.map((item) => item.leaseId),
      messageId: items.map((item) => item.messageId),
      text: items.map((item) => item.text),
    });
    const written = new Set(rows.map((row) => row.messageId));
    return items.map((item) => written.has(item.messageId));
  },
  // One at a time: leases are claimed and renewed on these connections, and go first.
  { keyOf: (item) => item.ticketId, lanes: 1 },
);

interface ChatRef {
  project: ProjectId;
  ticketId: string;
}

const findBatched = batched<Context, ChatRef, UnfinishedReply | null>(async (context: Context, items) => {
  const rows = await sql.find.all<{
    projectId: string;
    ticketId: string;
    messageId: string;
    text: string | null;
    isCollected: boolean;
  }>(context.hot, { projectId: items.map((item) => item.project), ticketId: items.map((item) => item.ticketId) });
  const found = new Map(
    rows.map((row): [string, UnfinishedReply] => [
      `${row.projectId}/${row.ticketId}`,
      { messageId: row.messageId, text: row.text, isCollected: row.isCollected },
    ]),
  );
  return items.map((item) => found.get(`${item.project}/${item.ticketId}`) ?? null);
});

/**
 * Says what the answer to a message says so far; false when the lease is lost and nothing was written. Of one
 * message only the holder of the lease calls it, one call after the other. Concurrent calls share a statement.
 */
export function write(context: Context, project: ProjectId, text: Omit<UnfinishedText, "project">): Promise<boolean> {
  return writeBatched(context, { ...text, project });
}

/** The message of a chat that is being answered; null when none is. Concurrent calls share a read. */
export function find(context: Context, project: ProjectId, ticketId: string): Promise<UnfinishedReply | null> {
  return findBatched(context, { project, ticketId });
}

/** Forgets the texts that nobody adds to any more, of all projects. */
export async function removeIdle(context: Context): Promise<void> {
  await sql.removeIdle.run(context.leases);
}
