import { TEST_ORIGIN, checkInput, testMessageSchema } from "@svc/contracts";
import type { SentTestMessage } from "@svc/contracts";
import type { Log } from "@svc/log";
import { announceWork } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { newId } from "@svc/store";
import type { Store } from "@svc/store";
import { leaveToSweeper } from "./leave-to-sweeper.ts";
import { operation } from "./operation.ts";

/** What sending a test message needs. */
export interface TestMessageDeps {
  store: Store;
  queues: Queues;
  log: Log;
}

/**
 * Sends a message to the principal's project as a customer of the HTTP API would, in a chat of its own, so that what an
 * earlier test left with a person holds nothing up. It is durable when this resolves, and answered as any message is; the
 * reply stays in its ticket. Scope messages:write. Throws invalid_request and unavailable.
 */
export const sendTestMessage = operation(
  "sendTestMessage",
  async ({ store, queues, log }: TestMessageDeps, principal, input): Promise<SentTestMessage> => {
    const { text } = checkInput(testMessageSchema, input, "The message");
    const { project } = principal;
    const chatId = `test:${newId()}`;
    const { messageId, ticketId } = await store.messages.accept(project, {
      channelId: "api",
      chatId,
      userId: null,
      text,
      timestampMs: Date.now(),
      attachments: null,
      channelMeta: { origin: TEST_ORIGIN },
      // Kept for whoever drains the chat, as replies of the API are.
      mode: "async",
      callInstance: null,
      callback: null,
    });
    await leaveToSweeper(log, { ticketId }, () =>
      announceWork(queues, "incoming-messages", [{ project, messageId, ticketId, attempts: 0 }]),
    );
    return { messageId, ticketId, chatId };
  },
  { audit: "messages.test", objectOf: (_args, result) => result?.ticketId ?? null },
);
