import { z } from "zod";
import { CHANNEL_CHANGES, channelItemSchema } from "../channel-item.ts";
import { messengerTestResultSchema, messengerTestSchema } from "../messenger-test.ts";
import { itemAnswer, listAnswer } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Channels";
const PATH = "/api/v1/admin/channels";

/** Channels: their settings, whether they are switched on, and how they are doing. */
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
    summary: "Read a channel",
    scope: "channels:read",
    answers: [itemAnswer(channelItemSchema)],
  },
  updateChannel: {
    method: "PUT",
    path: `${PATH}/{id}`,
    tag,
    summary: "Change a channel's settings, switch it on or off",
    description:
      "What is left out stays as it is, and so does a secret that is sent as it was shown. Every replica follows within two seconds. The tool server has no settings and can be switched on and off.",
    scope: "admin:*",
    body: {
      schema: z.union([
        CHANNEL_CHANGES.api,
        CHANNEL_CHANGES.widget,
        CHANNEL_CHANGES.messenger,
        CHANNEL_CHANGES["tool-server"],
      ]),
    },
    ifMatch: true,
    answers: [itemAnswer(channelItemSchema)],
    example: { body: { enabled: true, config: { timeoutMs: 20_000 } } },
  },
  testMessenger: {
    method: "POST",
    path: `${PATH}/messenger/test`,
    tag,
    summary: "Send a test message to a chat of the bot",
    description:
      "The chat must have written to the bot before. It goes the way of every reply, is kept in its ticket, answers no message and changes no ticket. The answer waits for at most ten seconds.",
    scope: "admin:*",
    body: { schema: messengerTestSchema, isOptional: true },
    answers: [itemAnswer(messengerTestResultSchema)],
    errors: ["not_found"],
    example: { body: { chatId: "123456789" } },
  },
} as const satisfies Record<string, Endpoint>;
