import type { ReplyContext } from "@svc/contracts";
import { asProjectId } from "@svc/store";
import type { Store } from "@svc/store";
import { z } from "zod";

/** Destination of a message in a chat. A topic or message that Telegram no longer knows is omitted. */
export interface Position {
  chatId: string;
  /** Topic of a forum. */
  threadId: number | null;
  /** The message that is quoted. */
  replyToMessageId: number | null;
}

/** What sending reads from the store. */
export interface TargetStore {
  messages: Pick<Store["messages"], "findMeta" | "findLastMeta">;
}

/** What the channel stored with a message of Telegram, as far as its reply needs it. */
const originSchema = z.object({
  telegram: z.object({ messageId: z.int().optional().catch(undefined), threadId: z.int().optional().catch(undefined) }),
});

/** Groups and supergroups have negative numbers. */
export const isGroup = (chatId: string): boolean => chatId.startsWith("-");

/**
 * Returns the destination of a reply: the topic of the message that it answers, or of the chat's newest message; in a group it
 * quotes the message that it answers.
 */
export async function findTarget(
  store: TargetStore,
  chatId: string,
  context: Partial<Pick<ReplyContext, "project" | "ticketId" | "inReplyTo">>,
): Promise<Position> {
  const origin = originSchema.safeParse(await findMeta(store, context));
  const { messageId, threadId } = origin.success ? origin.data.telegram : {};
  const isQuoting = isGroup(chatId) && context.inReplyTo !== undefined;
  return { chatId, threadId: threadId ?? null, replyToMessageId: isQuoting ? (messageId ?? null) : null };
}

async function findMeta(
  store: TargetStore,
  { project, ticketId, inReplyTo }: Partial<Pick<ReplyContext, "project" | "ticketId" | "inReplyTo">>,
): Promise<Record<string, unknown> | null> {
  if (project === undefined) return null;
  if (inReplyTo !== undefined) return await store.messages.findMeta(asProjectId(project), inReplyTo);
  if (ticketId === undefined) return null;
  return await store.messages.findLastMeta(asProjectId(project), ticketId);
}
