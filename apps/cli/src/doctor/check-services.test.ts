import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { CHANNELS, widgetSettingsSchema } from "@svc/contracts";
import { findRedisServer, freePort, startRedis } from "@svc/testing";
import type { ReplicaState, Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import {
  checkConsole,
  checkEmail,
  checkTools,
  judgeReplicas,
  judgeSettings,
  checkRedis,
  judgeRedis,
} from "./check-services.ts";

const hasRedis = (await findRedisServer()) !== null;
const testRedis = hasRedis ? test : test.skip;

describe("the check of Redis", () => {
  test.each([
    ["7.2.0", "noeviction", "ok"],
    ["6.2.0", "noeviction", "ok"],
    ["6.0.16", "noeviction", "fail"],
    ["7.2.0", "allkeys-lru", "warn"],
  ])("version %s with policy %s: %s", (version, policy, status) => {
    expect(judgeRedis({ version, policy, writes: "fine" }, false).status).toBe(status);
  });

  test("fails if the apps would not start, or if Redis cannot write to its disk", () => {
    const lossy = judgeRedis({ version: "7.2.0", policy: "allkeys-lru", writes: "fine" }, true);
    expect(lossy).toMatchObject({ status: "fail", advice: expect.stringContaining("do not start") });
    const full = judgeRedis({ version: "7.2.0", policy: "noeviction", writes: "failing" }, false);
    expect(full).toMatchObject({ status: "fail", detail: expect.stringContaining("cannot write to disk") });
  });

  testRedis("reads version and policy of a real one", async () => {
    const redis = await startRedis();
    try {
      expect(await checkRedis(redis.url, false)).toMatchObject({
        detail: expect.stringMatching(/^version \d+\.\d+\.\d+, maxmemory-policy [a-z-]+$/),
      });
    } finally {
      await redis.stop();
    }
  });

  testRedis("says what Redis says of a wrong password, and never the password", async () => {
    const redis = await startRedis({ settings: { requirepass: "another" } });
    try {
      const check = await checkRedis(redis.url.replace("//", "//default:hunter2@"), false);
      expect(check).toMatchObject({ status: "fail", detail: expect.stringContaining("WRONGPASS") });
      expect(JSON.stringify(check)).not.toContain("hunter2");
    } finally {
      await redis.stop();
    }
  });

  test("explains why it is unreachable, and that nothing is lost", async () => {
    const check = await checkRedis(`redis://127.0.0.1:${await freePort()}`, false);
    expect(check).toMatchObject({ status: "fail", detail: expect.stringContaining("ECONNREFUSED") });
    expect(check.detail).toContain("messages are accepted and processed later");
  });
});

const OURS = '{"ok":true,"password":true,"oidc":null}';

/** Returns the doctor's result for a server with this response; null: nothing listens. */
async function find(answer: { status: number; text: string } | null, isFirstMissing = false) {
  const server = createServer((_request, response) => {
    response.writeHead(answer?.status ?? 500).end(answer?.text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise((resolve) => server.close(resolve));
  if (answer === null) await close();
  const ports = { api: 0, widget: 0, tools: 0, console: port, metrics: undefined };
  const store = { operatorLinks: { isFirstMissing: () => Promise.resolve(isFirstMissing) } } as Store;
  const cli = { startWith: "npm start", self: "svc" } as Cli;
  const check = await checkConsole(cli, { bindHost: undefined, ports }, store, new Map());
  if (answer !== null) await close();
  return check;
}

test.each([
  { what: "that answers", answer: { status: 200, text: OURS }, status: "ok" },
  { what: "that is another program", answer: { status: 200, text: "<html>" }, status: "fail" },
  { what: "that is out of order", answer: { status: 503, text: OURS }, status: "fail" },
  { what: "that is not there", answer: null, status: "warn" },
])("a console $what: $status", async ({ answer, status }) => {
  const check = await find(answer);
  expect(check).toMatchObject({ name: "Console", status });
  expect(check.advice === undefined).toBe(status === "ok");
});

test("explains how the first administrator signs up if there is no account yet", async () => {
  expect(await find({ status: 200, text: OURS }, true)).toMatchObject({
    status: "ok",
    detail: expect.stringContaining("svc operators link"),
  });
});

/** Returns the doctor's result for a server that responds to every request like this; null: nothing listens. */
async function findTools(answer: { status: number; type: string } | null, key: string | null) {
  const keys: unknown[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers["x-api-key"]);
    request.resume();
    response.writeHead(answer?.status ?? 500, { "Content-Type": answer?.type }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise((resolve) => server.close(resolve));
  if (answer === null) await close();
  const ports = { api: 0, widget: 0, tools: port, console: 0, metrics: undefined };
  const check = await checkTools({ startWith: "npm start" } as Cli, { bindHost: undefined, ports }, key, new Map());
  if (answer !== null) await close();
  return { check, keys };
}

const JSON_TYPE = "application/json";
const PROBLEM = "application/problem+json";

test("the check of emails names the settings that are missing, and push notifications that fail without them", async () => {
  const checkWith = (state: { failing: number; since: Date | null; failure: string | null }) =>
    checkEmail({ emailNotifications: { readState: () => Promise.resolve(state) } } as unknown as Store, null);
  expect(await checkWith({ failing: 0, since: null, failure: null })).toMatchObject({
    status: "ok",
    detail: expect.stringMatching(/SVC_SMTP_URL and SVC_EMAIL_FROM/),
  });
  const since = new Date("2026-01-02T03:04:05Z");
  const { detail } = await checkWith({ failing: 2, since, failure: "the push service responded with 503" });
  expect(detail).toMatch(/2 notifications wait since 2026-01-02T03:04:05.000Z: the push service responded with 503$/);
});

describe("the tool server", () => {
  test.each([
    { what: "that lists its tools", answer: { status: 200, type: JSON_TYPE }, key: "k", status: "ok" },
    { what: "asked without a key", answer: { status: 401, type: PROBLEM }, key: null, status: "ok" },
    { what: "that is asked too often", answer: { status: 429, type: PROBLEM }, key: "k", status: "ok" },
    { what: "that does not know the key", answer: { status: 401, type: PROBLEM }, key: "k", status: "fail" },
    { what: "that is another program", answer: { status: 404, type: "text/html" }, key: "k", status: "fail" },
    { what: "that is not there", answer: null, key: "k", status: "warn" },
  ])("$what: $status", async ({ answer, key, status }) => {
    const { check, keys } = await findTools(answer, key);
    expect(check).toMatchObject({ name: "Tool server", status });
    expect(check.advice === undefined).toBe(status === "ok");
    expect(keys).toEqual(answer === null ? [] : [key ?? undefined]);
  });
});

const settings = (given: object) => widgetSettingsSchema.parse({ apiKey: "widget-key-0123456789", ...given });

describe("the widget's settings", () => {
  test("fails with advice if the widget has no key", () => {
    expect(judgeSettings(settings({ apiKey: null }), true, "svc")).toEqual([
      expect.objectContaining({ status: "fail", advice: expect.stringContaining("svc channels enable widget") }),
    ]);
  });

  test("warns if any site may load the widget", () => {
    expect(judgeSettings(settings({}), true, "svc")).toEqual([
      expect.objectContaining({ name: "Widget sites", status: "warn", detail: "any site can load the widget" }),
    ]);
  });

  test("lists the allowed sites", () => {
    const found = judgeSettings(
      settings({ allowedOrigins: ["https://a.example", "https://*.b.example"] }),
      true,
      "svc",
    );
    expect(found).toEqual([{ name: "Widget sites", status: "ok", detail: "https://a.example, https://*.b.example" }]);
  });

  test("fails if the project does not exist", () => {
    expect(judgeSettings(settings({ project: "gone" }), false, "svc")[0]).toMatchObject({
      status: "fail",
      detail: expect.stringContaining("the project gone does not exist"),
    });
  });
});

const CHANNEL = "messenger";
const CLI = { self: "svc", startWith: "npm start" };
const replica = (state: ReplicaState["state"], error: string | null = null): ReplicaState => ({
  id: CHANNEL,
  state,
  since: new Date("2026-01-02T03:04:05.678Z"),
  error,
});

test.each([
  ["no replica says that it runs", [], { status: "warn", detail: "is not running" }],
  ["all replicas have stopped", [replica("stopped")], { status: "warn", detail: "is not running" }],
  ["one replica runs", [replica("running")], { status: "ok", detail: "runs" }],
  [
    "several replicas run",
    [replica("running"), replica("running"), replica("stopped")],
    { status: "ok", detail: "running in 2 replicas, one of which is active" },
  ],
  [
    "one replica fails",
    [replica("running"), replica("failing", "The bot token is refused.")],
    { status: "fail", detail: "The bot token is refused. (since 2026-01-02T03:04:05Z)" },
  ],
])("when %s, the doctor reports a channel that pushes replies accordingly", (_when, replicas, expected) => {
  expect(judgeReplicas(CHANNEL, replicas, CLI)).toMatchObject({ name: CHANNELS[CHANNEL].label, ...expected });
});
