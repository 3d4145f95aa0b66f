import { setTimeout } from "node:timers/promises";
import { CHANNELS, ServiceError, channelIdSchema, channelTestSchema, checkInput } from "@svc/contracts";
import type { ChannelId, ChannelTestResult } from "@svc/contracts";
import { DEFAULT_PROJECT, ticketIdOf } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { getChannel } from "./channels.ts";
import { operation } from "./operation.ts";

/** What a chat reads. */
const TEST_TEXT = "This is a test message: your bot can write to this chat.";
/** So long is waited for the Bot API, in milliseconds, and so often is looked. */
const WAIT_MS = 10_000;
const LOOK_MS = 200;

const noChat = (chatId: string | undefined) =>
  new ServiceError(
    "not_found",
    chatId === undefined
      ? "No one has written to the bot yet. Send it a message in Telegram first."
      : "No one has written to the bot in this chat, and a bot cannot start a chat. Send it a message there first.",
  );

const noTestMessage = () => new ServiceError("not_found", "No channel with this ID sends test messages.");

/** The conversation of a chat of the bot, or the one in which something happened last. Throws not_found. */
async function findChat(
  store: Store,
  project: ProjectId,
  { channelId, chatId }: { channelId: ChannelId; chatId: string | undefined },
) {
  if (chatId !== undefined) return { ticketId: ticketIdOf(project, channelId, chatId), chatId };
  const query = { channelId, sort: "-updatedAt", limit: 1, after: undefined, words: null } as const;
  const [newest] = (await store.ticketList.listPage(project, query)).tickets;
  if (newest === undefined) throw noChat(chatId);
  return { ticketId: newest.id, chatId: newest.chatId };
}

/**
 * Sends a test message to a chat that has written to the bot, the way of every reply, and waits for at most ten seconds
 * until it is delivered. It answers no message and changes no ticket. Scope admin:*. Throws not_found where the chat is
 * none of the bot's or the channel has no test message, and invalid_request if the channel does not run.
 */
export const testChannel = operation(
  "testChannel",
  async ({ store }, principal, id, input): Promise<ChannelTestResult> => {
    const given = checkInput(channelTestSchema, input, "The test");
    const channelId = channelIdSchema.safeParse(id).data;
    if (channelId === undefined || !CHANNELS[channelId].pushes) throw noTestMessage();
    const channel = await getChannel({ store }, principal, channelId);
    if (channel.state !== "running") {
      const why = channel.error ?? (channel.enabled ? "It has not started." : "It is disabled.");
      throw new ServiceError(
        "invalid_request",
        `The ${channelId} channel is not running, so nothing can be sent. ${why}`,
      );
    }
    const project = await store.projects.findByName(DEFAULT_PROJECT);
    if (project === null) throw noChat(given.chatId);
    const { ticketId, chatId } = await findChat(store, project.id, { channelId, chatId: given.chatId });
    const replyId = await store.outboxes.insertNotice(project.id, ticketId, TEST_TEXT);
    if (replyId === null) throw noChat(given.chatId);
    const endsAt = performance.now() + WAIT_MS;
    for (;;) {
      const found = await store.outboxes.findOutcome(project.id, replyId);
      // One that is gone was erased meanwhile.
      if (found === null) throw noChat(given.chatId);
      const { isDelivered, failure } = found;
      if (isDelivered) return { chatId, ticketId, state: "delivered", failure: null };
      if (failure !== null) return { chatId, ticketId, state: "failed", failure };
      if (performance.now() >= endsAt) return { chatId, ticketId, state: "waiting", failure: null };
      await setTimeout(LOOK_MS);
    }
  },
  { audit: "channels.test", objectOf: (_args, result) => result?.ticketId ?? null },
);
