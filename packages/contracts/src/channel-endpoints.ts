import { z } from "zod";
import { CHANNEL_CHANGES, channelItemSchema } from "./channel-item.ts";
import { channelTestResultSchema, channelTestSchema } from "./channel-test.ts";
import { itemAnswer, listAnswer } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Channels";
const PATH = "/api/v1/admin/channels";

/** Channels: settings, enabled state and health. */
export const channelEndpoints = {
  listChannels: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List channels and the tool server with their settings and state",
    description: "Secrets are masked.",
    scope: "channels:read",
    answers: [listAnswer(channelItemSchema)],
  },
  getChannel: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Get a channel",
    scope: "channels:read",
    answers: [itemAnswer(channelItemSchema)],
  },
  updateChannel: {
    method: "PUT",
    path: `${PATH}/{id}`,
    tag,
    summary: "Update, enable or disable a channel",
    description:
      "Omitted fields stay unchanged, and so do secrets that are sent back masked. Every replica applies the change within two seconds. The tool server has no settings; it can only be enabled and disabled.",
    scope: "admin:*",
    body: {
      schema: z.union(Object.values(CHANNEL_CHANGES)),
    },
    ifMatch: true,
    answers: [itemAnswer(channelItemSchema)],
    example: { body: { enabled: true, config: { timeoutMs: 20_000 } } },
  },
  testChannel: {
    method: "POST",
    path: `${PATH}/{id}/test`,
    tag,
    summary: "Send a test message to a chat of the Telegram bot",
    description:
      "The chat must have written to the bot before. The message is delivered like any reply and stored in the chat's ticket, but answers no message and does not change the ticket. The request waits at most ten seconds for the delivery.",
    scope: "admin:*",
    body: { schema: channelTestSchema, isOptional: true },
    answers: [itemAnswer(channelTestResultSchema)],
    errors: ["not_found"],
    example: { body: { chatId: "123456789" } },
  },
} as const satisfies Record<string, Endpoint>;
