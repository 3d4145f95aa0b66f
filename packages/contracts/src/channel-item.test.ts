import { expect, test } from "@jest/globals";
import { CHANNEL_CONFIGS, channelItemSchema } from "./channel-item.ts";
import { CHANNELS, mapSecrets } from "./channels.ts";
import type { ChannelId } from "./channels.ts";
import { MASKED_SECRET } from "./secret.ts";

const API = {
  bindHost: "127.0.0.1",
  timeoutMs: 1_000,
  webhookSecret: null,
  previousWebhookSecretUntil: null,
  bufferDays: 7,
};

test("the empty settings of an integration match no settings of a channel", () => {
  expect(CHANNEL_CONFIGS["tool-server"].safeParse({}).success).toBe(true);
  expect(CHANNEL_CONFIGS["tool-server"].safeParse(API).success).toBe(false);
});

test("a channel with only secrets matches no other settings", () => {
  for (const [id, channel] of Object.entries(CHANNELS).filter(([, { secrets }]) => Object.keys(secrets).length > 0)) {
    const secrets = mapSecrets(channel, () => MASKED_SECRET);
    const schema = CHANNEL_CONFIGS[id as ChannelId];
    expect(schema.parse(secrets)).toEqual(secrets);
    expect(schema.safeParse({ ...API, ...secrets }).success).toBe(false);
  }
});

test("the item of a channel keeps all its settings, whatever other channels have", () => {
  expect(channelItemSchema.shape.config.parse(API)).toEqual(API);
  expect(channelItemSchema.shape.config.parse({})).toEqual({});
});
