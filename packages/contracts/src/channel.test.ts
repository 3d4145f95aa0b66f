import { describe, expect, test } from "@jest/globals";
import { apiSettingsSchema, CHANNEL_SETTINGS, channelsConfigSchema, widgetSettingsSchema } from "./channel.ts";
import { LIMITS } from "./limits.ts";

const UNSET = { enabled: [], api: { config: {} }, widget: { config: {} }, messenger: { config: {} }, version: 1 };

describe("the settings of the channels", () => {
  test("that were never set are the documented defaults, and reach local processes only", () => {
    const { enabled, api, widget, messenger, version } = channelsConfigSchema.parse(UNSET);
    expect({ enabled, api, widget, messenger, version }).toEqual({
      enabled: [],
      api: {
        config: {
          bindHost: "127.0.0.1",
          timeoutMs: 30_000,
          webhookSecret: null,
          previousWebhookSecret: null,
          bufferDays: 7,
        },
      },
      widget: {
        config: {
          apiKey: null,
          allowedOrigins: [],
          project: "default",
          theme: "auto",
          color: "#3366ff",
          position: "bottom-right",
          locale: "en",
          title: "",
          greeting: "",
          strings: {},
          questions: [],
          languages: {},
          logo: "",
          launcher: {
            icon: "chat",
            image: "",
            label: "",
            side: 20,
            bottom: 20,
            hiddenPaths: [],
            hiddenOnPhones: false,
          },
          features: { upload: true, rating: true, person: true, sound: true, tables: false, prechat: [] },
          identitySecret: null,
          requireIdentity: false,
          messagesPerMinute: 30,
          configReadsPerMinute: 60,
          filesPerMinute: 30,
          socketsPerMinute: 10,
        },
      },
      messenger: { config: { botToken: null } },
      version: 1,
    });
  });

  test("name enabled channels of the document only", () => {
    expect(channelsConfigSchema.parse({ ...UNSET, enabled: ["api", "widget", "messenger"] }).enabled).toHaveLength(3);
    expect(channelsConfigSchema.safeParse({ ...UNSET, enabled: ["email"] }).success).toBe(false);
  });

  test.each(["127.0.0.1", "0.0.0.0"])("bind the HTTP API to %s", (bindHost) => {
    expect(apiSettingsSchema.parse({ bindHost }).bindHost).toBe(bindHost);
  });

  test.each([{ bindHost: "::" }, { bindHost: "" }, { timeoutMs: 0 }, { timeoutMs: 1.5 }, { timeoutMs: "5000" }])(
    "of the HTTP API refuse %j",
    (config) => {
      expect(apiSettingsSchema.safeParse(config).success).toBe(false);
    },
  );

  test("limit the default timeout as a message's own", () => {
    expect(apiSettingsSchema.parse({ timeoutMs: LIMITS.timeoutMaxMs }).timeoutMs).toBe(LIMITS.timeoutMaxMs);
    expect(apiSettingsSchema.safeParse({ timeoutMs: LIMITS.timeoutMaxMs + 1 }).success).toBe(false);
  });

  test("hold the webhook secret and the bot token sealed, never as they are", () => {
    const sealed = { sealed: "v1.abc" };
    expect(apiSettingsSchema.parse({ webhookSecret: sealed }).webhookSecret).toEqual(sealed);
    expect(CHANNEL_SETTINGS.messenger.parse({ botToken: sealed }).botToken).toEqual(sealed);
    expect(apiSettingsSchema.safeParse({ webhookSecret: "in the clear" }).success).toBe(false);
    expect(CHANNEL_SETTINGS.messenger.safeParse({ botToken: "in the clear" }).success).toBe(false);
  });

  test("hold one key and a list of origins for the widget", () => {
    expect(
      widgetSettingsSchema.parse({ apiKey: "wk", allowedOrigins: ["https://a.example"], project: "shop" }),
    ).toMatchObject({
      apiKey: "wk",
      allowedOrigins: ["https://a.example"],
      project: "shop",
    });
    expect(widgetSettingsSchema.safeParse({ allowedOrigins: "https://a.example" }).success).toBe(false);
  });
});
