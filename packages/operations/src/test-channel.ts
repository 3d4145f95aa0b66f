import { setTimeout } from "node:timers/promises";
import {
  CHANNELS,
  ServiceError,
  TEST_ORIGIN,
  channelIdSchema,
  channelTestSchema,
  checkInput,
  testEmailSchema,
  testMessageSchema,
} from "@svc/contracts";
import type { ChannelId, ChannelTestResult, SentTestMessage, TestEmailResult } from "@svc/contracts";
import type { Log } from "@svc/log";
import { EmailError } from "@svc/outbound";
import type { Mailer } from "@svc/outbound";
import { announceWork } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { DEFAULT_PROJECT, newId, ticketIdOf } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { getChannel } from "./channels.ts";
import { leaveToSweeper, operation } from "./operation.ts";

/** Dependencies of sending a test message. */
interface TestMessageDeps {
  store: Store;
  queues: Queues;
  log: Log;
}

/**
 * Sends a message to the principal's project like a customer of the HTTP API, in a new chat, so that an earlier test
 * that waits for a person does not delay it. It is durable when this resolves, and is answered like any message; the
 * reply stays in its ticket. Throws invalid_request and unavailable.
 */
export const sendTestMessage = operation(
  "sendTestMessage",
  async ({ store, queues, log }: TestMessageDeps, principal, input): Promise<SentTestMessage> => {
    const { text } = checkInput(testMessageSchema, input, "The message");
    const { project } = principal;
    const chatId = `test:${newId()}`;
    const { messageId, ticketId, priority } = await store.messages.accept(project, {
      channelId: "api",
      chatId,
      userId: null,
      text,
      timestampMs: Date.now(),
      attachments: null,
      channelMeta: { origin: TEST_ORIGIN },
      // Buffered until the chat is drained, as replies of the API are.
      mode: "async",
      callInstance: null,
      callback: null,
    });
    await leaveToSweeper(log, { ticketId }, () =>
      announceWork(queues, "incoming-messages", [{ project, messageId, ticketId, attempts: 0, priority }]),
    );
    return { messageId, ticketId, chatId };
  },
  { audit: "messages.test", objectOf: (_args, result) => result?.ticketId ?? null },
);

/** Text of the test message. */
const TEST_TEXT = "This is a test message: your bot can write to this chat.";
/** Timeout and polling interval of the Bot API, in milliseconds. */
const WAIT_MS = 10_000;
const POLL_MS = 200;

const noChat = (chatId: string | undefined) =>
  new ServiceError(
    "not_found",
    chatId === undefined
      ? "No one has written to the bot yet. Send it a message in Telegram first."
      : "No one has written to the bot in this chat, and a bot cannot start a chat. Send it a message there first.",
  );

const noTestMessage = () => new ServiceError("not_found", "No channel with this ID sends test messages.");

/** Returns the conversation of a chat of the bot, by default the most recently active one. Throws not_found. */
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
 * Sends a test message to a chat that has written to the bot, like any reply, and waits for at most ten seconds until
 * it is delivered. It answers no message and changes no ticket. Throws not_found if the chat is not one of the bot's or
 * the channel has no test message, and invalid_request if the channel does not run.
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
      // It was erased meanwhile.
      if (found === null) throw noChat(given.chatId);
      const { isDelivered, failure } = found;
      if (isDelivered) return { chatId, ticketId, state: "delivered", failure: null };
      if (failure !== null) return { chatId, ticketId, state: "failed", failure };
      if (performance.now() >= endsAt) return { chatId, ticketId, state: "waiting", failure: null };
      await setTimeout(POLL_MS);
    }
  },
  { audit: "channels.test", objectOf: (_args, result) => result?.ticketId ?? null },
);

/**
 * Sends a test email and waits until the mail server has responded. Throws invalid_request without a mail server in the
 * configuration.
 */
export const sendTestEmail = operation(
  "sendTestEmail",
  async ({ mailer }: { store: Store; mailer?: Mailer | null }, _principal, input): Promise<TestEmailResult> => {
    const { to } = checkInput(testEmailSchema, input, "The test");
    if (mailer === undefined || mailer === null) {
      throw new ServiceError(
        "invalid_request",
        "No mail server is configured. Set SVC_SMTP_URL and SVC_EMAIL_FROM, and restart the service.",
      );
    }
    try {
      const text = "This is a test email: the settings of the mail server work.";
      await mailer.send({ id: newId(), to, subject: "Test email", text });
    } catch (error) {
      if (!(error instanceof EmailError)) throw error;
      return { to, state: "failed", failure: error.message };
    }
    return { to, state: "sent", failure: null };
  },
  { audit: "email.test", isGlobal: true },
);
