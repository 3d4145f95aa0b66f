import { setTimeout } from "node:timers/promises";
import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { ServiceError, checkInput, messengerTestSchema } from "@svc/contracts";
import type { MessengerTestInput, MessengerTestResult } from "@svc/contracts";
import { DEFAULT_PROJECT, ticketIdOf } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { audited } from "./audited.ts";
import { getChannel } from "./channels.ts";

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

/** The conversation of a chat of the bot, or the one in which something happened last. Throws not_found. */
async function findChat(store: Store, project: ProjectId, chatId: string | undefined) {
  if (chatId !== undefined) return { ticketId: ticketIdOf(project, "messenger", chatId), chatId };
  const query = { channelId: "messenger", sort: "-updatedAt", limit: 1, after: undefined, words: null } as const;
  const [newest] = (await store.ticketList.listPage(project, query)).tickets;
  if (newest === undefined) throw noChat(chatId);
  return { ticketId: newest.id, chatId: newest.chatId };
}

/**
 * Sends a test message to a chat that has written to the bot, the way of every reply, and waits for at most ten seconds
 * until it is delivered. It answers no message and changes no ticket. Scope admin:*. Throws not_found where the chat is
 * none of the bot's, and invalid_request where the messenger does not run.
 */
export const testMessenger = audited(
  "channels.test",
  async function testMessenger(
    { store }: { store: Store },
    principal: Principal,
    input: MessengerTestInput,
  ): Promise<MessengerTestResult> {
    requireScope(principal, "admin:*");
    const given = checkInput(messengerTestSchema, input, "The test");
    const channel = await getChannel({ store }, principal, "messenger");
    if (channel.state !== "running") {
      const why = channel.error ?? (channel.enabled ? "It has not started." : "It is disabled.");
      throw new ServiceError("invalid_request", `The messenger channel is not running, so nothing can be sent. ${why}`);
    }
    const project = await store.projects.findByName(DEFAULT_PROJECT);
    if (project === null) throw noChat(given.chatId);
    const { ticketId, chatId } = await findChat(store, project.id, given.chatId);
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
  (_args, result) => result?.ticketId ?? null,
);
