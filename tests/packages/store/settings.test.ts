import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { INTEGRATION_IDS, widgetSettingsSchema } from "@svc/contracts";
import { DEFAULT_PROJECT, openStore } from "@svc/store";
import { testLog } from "@svc/testing";
import { openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;

beforeAll(async () => {
  db = await openTestStore();
});

afterAll(async () => {
  await db.close();
});

beforeEach(async () => {
  await db.sql("DELETE FROM channels_config");
  await db.sql("INSERT INTO channels_config DEFAULT VALUES");
});

test("a new installation has only the tool server enabled, and the documented defaults", async () => {
  const { enabled, api, widget, messenger, version } = await db.store.channelsConfig.read();
  expect({ enabled, api, widget, messenger, version }).toEqual({
    enabled: ["tool-server"],
    api: {
      config: {
        bindHost: "127.0.0.1",
        timeoutMs: 30_000,
        webhookSecret: null,
        previousWebhookSecret: null,
        bufferDays: 7,
      },
    },
    widget: { config: widgetSettingsSchema.parse({ project: DEFAULT_PROJECT }) },
    messenger: { config: { botToken: null } },
    version: 1,
  });
});

test("a channel is enabled and disabled once despite concurrent calls, without changing others", async () => {
  const { channelsConfig } = db.store;
  const switched = await Promise.all(Array.from({ length: 8 }, () => channelsConfig.setEnabled("api", true)));
  expect(switched.filter(Boolean).length).toBe(1);
  await Promise.all(INTEGRATION_IDS.map((channelId) => channelsConfig.setEnabled(channelId, true)));
  expect((await channelsConfig.read()).enabled.toSorted()).toEqual(INTEGRATION_IDS.toSorted());

  expect(await channelsConfig.setEnabled("widget", false)).toBe(true);
  expect(await channelsConfig.setEnabled("widget", false)).toBe(false);
  const { enabled, version } = await channelsConfig.read();
  expect(enabled.toSorted()).toEqual(INTEGRATION_IDS.filter((id) => id !== "widget").toSorted());
  // One for each change, so that a process can detect it. The tool server is enabled initially.
  expect(version).toBe(1 + INTEGRATION_IDS.length - 1 + 1);
});

test("the tool server is enabled like a channel, in a column that the previous version does not read", async () => {
  const { channelsConfig } = db.store;
  const stored = async () => (await db.sql<{ enabled: string[] }>("SELECT enabled FROM channels_config"))[0]?.enabled;
  expect((await channelsConfig.read()).enabled).toContain("tool-server");
  expect(await channelsConfig.setEnabled("tool-server", false)).toBe(true);
  expect(await channelsConfig.setEnabled("tool-server", false)).toBe(false);
  expect((await channelsConfig.read()).enabled).not.toContain("tool-server");
  const { version } = await channelsConfig.read();
  expect(await channelsConfig.update("tool-server", {}, { ifVersion: version - 1, enabled: true })).toBe(false);
  expect(await channelsConfig.update("tool-server", {}, { ifVersion: version, enabled: true })).toBe(true);
  expect((await channelsConfig.read()).enabled).toContain("tool-server");
  expect(await stored()).not.toContain("tool-server");
});

test("changing a setting keeps the other settings of its channel and all other channels", async () => {
  const { channelsConfig } = db.store;
  await channelsConfig.update("widget", { apiKey: "wk_1", allowedOrigins: ["https://example.com"] });
  await db.store.projects.ensure("window");
  await channelsConfig.update("widget", { project: "window" });
  await channelsConfig.update("api", { timeoutMs: 5_000 });
  const config = await channelsConfig.read();
  expect(config.widget.config).toMatchObject({
    apiKey: "wk_1",
    allowedOrigins: ["https://example.com"],
    project: "window",
  });
  expect(config.api.config).toMatchObject({ timeoutMs: 5_000, bindHost: "127.0.0.1" });
  expect(config.messenger.config).toEqual({ botToken: null });
  expect(config.version).toBe(4);
});

test("concurrent changes of different settings are all stored", async () => {
  const { channelsConfig } = db.store;
  await Promise.all([
    channelsConfig.update("widget", { apiKey: "wk_2" }),
    channelsConfig.update("widget", { allowedOrigins: ["https://example.org"] }),
    channelsConfig.update("messenger", { botToken: db.store.sealer.seal("12345:token") }),
    channelsConfig.setEnabled("messenger", true),
  ]);
  const config = await channelsConfig.read();
  expect(config.widget.config).toMatchObject({ apiKey: "wk_2", allowedOrigins: ["https://example.org"] });
  expect(db.store.sealer.open(config.messenger.config.botToken ?? { sealed: "" })).toBe("12345:token");
  expect(config.enabled).toEqual(["messenger", "tool-server"]);
});

test("a project is created once per name despite concurrent calls, with the defaults", async () => {
  const made = await Promise.all(Array.from({ length: 10 }, () => db.store.projects.ensure("shop")));
  expect(made.filter(({ created }) => created).length).toBe(1);
  const [project] = made.map((one) => one.project);
  if (project === undefined) throw new Error("a project was made");
  expect(made.every((one) => one.project.id === project.id)).toBe(true);
  expect(project).toMatchObject({ name: "shop", tablesAsXlsx: true, retentionDays: null, version: 1 });
  expect(project.handoffText).not.toBe("");
  expect(await db.store.projects.findByName("shop")).toEqual(project);
  expect(await db.store.projects.find(project.id)).toEqual(project);
  expect(await db.store.projects.findByName("no such project")).toBeNull();
});

test("a project's settings change one by one, and a handoff text can be empty", async () => {
  const project = await db.newProject();
  await db.store.projects.update(project, { handoffText: "" });
  await db.store.projects.update(project, { tablesAsXlsx: false });
  expect(await db.store.projects.find(project)).toMatchObject({ handoffText: "", tablesAsXlsx: false, version: 3 });
});

test("an agent has the defaults for omitted fields, and a knowledge base is added to it once", async () => {
  const project = await db.newProject();
  const agent = await db.store.agents.insert(project, { name: "Guide" });
  expect(agent).toEqual({
    id: expect.any(String),
    name: "Guide",
    description: "",
    instructions: "",
    model: null,
    kbIds: [],
    examples: [],
    reviewPolicy: "auto_if",
    autoThreshold: 0.7,
    fixedReply: null,
    assignment: "none",
    tools: [],
    enabled: true,
    version: 1,
  });
  const { kb } = await db.store.kbs.ensure(project, "manual");
  await db.store.agents.addKb(project, agent.id, kb.id);
  await db.store.agents.addKb(project, agent.id, kb.id);
  expect(await db.store.agents.find(project, agent.id)).toEqual({ ...agent, kbIds: [kb.id], version: 2 });
});

test("the first initialization is recorded as completed once", async () => {
  const another = db.openAnother();
  expect(await db.store.installation.isInitialized()).toBe(false);
  await db.store.installation.markInitialized();
  expect(await another.installation.isInitialized()).toBe(true);
  const noted = await db.sql("SELECT initialized_at FROM installation");
  await another.installation.markInitialized();
  expect(await db.sql("SELECT initialized_at FROM installation")).toEqual(noted);
});

test("of processes with different secret keys that start concurrently on a new store, only those with the first key start", async () => {
  await db.sql("UPDATE installation SET secret_key_check = NULL");
  const stores = Array.from({ length: 6 }, (_, index) =>
    openStore({ url: db.url, secretKey: `a secret key of process ${index % 2}`, log: testLog() }),
  );
  try {
    const checks = await Promise.all(stores.map((store) => store.installation.checkSecretKey(store.sealer)));
    const [even, odd] = [0, 1].map((rest) => checks.filter((_, index) => index % 2 === rest));
    expect(new Set([even?.every(Boolean), odd?.every(Boolean)])).toEqual(new Set([true, false]));
    expect(checks.filter(Boolean).length).toBe(3);
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
});

test("a process with another secret key than the first one is rejected", async () => {
  await db.sql("UPDATE installation SET secret_key_check = NULL");
  expect(await db.store.installation.checkSecretKey(db.store.sealer)).toBe(true);
  const stranger = openStore({ url: db.url, secretKey: "another key, as long as it has to be", log: testLog() });
  try {
    expect(await stranger.installation.checkSecretKey(stranger.sealer)).toBe(false);
    expect(await db.openAnother().installation.checkSecretKey(db.store.sealer)).toBe(true);
  } finally {
    await stranger.close();
  }
});
