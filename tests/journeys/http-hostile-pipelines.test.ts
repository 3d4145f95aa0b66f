import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectHealthy } from "./support/expect-healthy.ts";
import { exchangeRaw } from "./support/open-raw-connection.ts";
import { WIDGET_KEY, startWidget } from "./support/start-widget.ts";
import type { WidgetProduct } from "./support/start-widget.ts";

const CONNECTIONS = 10;
const REQUESTS = 1_400;
/** Health checks made while the connections are open. */
const HEALTH_CHECKS = 25;
/** Allowed memory growth of the process in MB; before responses were limited it grew by 800 MB and more. */
const GROWTH_MB = 80;
/** Allowed growth in MB with responses of 1.2 MB: each connection holds one, read from the store and as text (80 MB). */
const REPLIES_GROWTH_MB = 120;
/** Allowed growth with the largest responses in MB: each connection holds one until its client reads. */
const LARGE_GROWTH_MB = 200;
const FILE_BYTES = 9 * 1024 * 1024;
const VISITOR = randomUUID();

let product: WidgetProduct;
let api: ApiClient;
let fileId = "";
const opened: Socket[] = [];

beforeAll(async () => {
  product = await startWidget({ composition: "standalone" });
  api = createApiClient(product);
  await addProject(product.store, "fixed", { fixedReply: "x".repeat(40_000) });
  const form = new FormData();
  form.append("file", new Blob([Buffer.alloc(FILE_BYTES, 7)]), "large.bin");
  const uploaded = await product.call("/api/widget/files", { visitorId: VISITOR, form });
  ({ fileId } = (await uploaded.json()) as { fileId: string });
  for (let count = 0; count < 30; count++) await api.send("fixed", { text: "hello", chatId: "full", mode: "async" });
  // Responses that are built once are built before memory is measured.
  for (const path of ["openapi.json", "docs"]) await (await fetch(`${api.baseUrl()}/api/v1/${path}`)).arrayBuffer();
});

afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
});

afterAll(() => product.stop());

const running = () => {
  const [standalone] = product.composition.processes;
  if (standalone === undefined) throw new Error("no process runs");
  return standalone;
};

/** Returns the resident memory of the product in MB. */
async function memoryMb(): Promise<number> {
  const status = await readFile(`/proc/${running().pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024;
}

/** Opens a connection that pipelines many requests and never reads. */
async function floodFrom(baseUrl: string, request: string): Promise<void> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port) }).pause();
  opened.push(socket);
  // The server may reset it.
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(request.repeat(REQUESTS));
}

interface Target {
  baseUrl: () => string | undefined;
  path: () => string;
  headers?: () => string[];
  growthMb?: number;
  /** Expected status. Default: 200. */
  status?: number;
  /** True for a response that does not end. */
  isStream?: boolean;
}

const keyed = () => [`X-Api-Key: ${product.adminKey}`, "x-svc-project: fixed"];

const TARGETS: Record<string, Target> = {
  "the description of the API": { baseUrl: () => running().apiUrl, path: () => "/api/v1/openapi.json" },
  "the page of the API": { baseUrl: () => running().apiUrl, path: () => "/api/v1/docs" },
  health: { baseUrl: () => running().apiUrl, path: () => "/api/v1/health" },
  "the widget's script": { baseUrl: () => running().widgetUrl, path: () => "/widget.js" },
  "the console's page": { baseUrl: () => running().consoleUrl, path: () => "/sign-in" },
  "a tool server without a key": { baseUrl: () => running().toolsUrl, path: () => "/mcp", status: 401 },
  metrics: { baseUrl: () => running().metricsUrl, path: () => "/metrics" },
  "replies of a chat": {
    baseUrl: () => running().apiUrl,
    path: () => "/api/v1/messages/full?peek=1",
    headers: keyed,
    growthMb: REPLIES_GROWTH_MB,
  },
  "events of a chat": {
    baseUrl: () => running().apiUrl,
    path: () => "/api/v1/messages/full?after=0",
    headers: () => [...keyed(), "Accept: text/event-stream"],
    isStream: true,
  },
  "a visitor's file": {
    baseUrl: () => running().widgetUrl,
    path: () => `/api/widget/files/${fileId}`,
    headers: () => [`X-Api-Key: ${WIDGET_KEY}`, `X-Visitor-Id: ${VISITOR}`],
    growthMb: LARGE_GROWTH_MB,
  },
};

describe("clients that pipeline requests and never read", () => {
  test.each(Object.entries(TARGETS))("use little memory with %s", async (_what, target) => {
    const { baseUrl, path, headers = () => [], growthMb = GROWTH_MB, status = 200, isStream = false } = target;
    const request = [`GET ${path()} HTTP/1.1`, "Host: 127.0.0.1", ...headers(), "", ""].join("\r\n");
    const { answers } = await exchangeRaw(String(baseUrl()), request, { count: isStream ? 0 : 1 });
    if (!isStream) expect(answers[0]?.status).toBe(status);
    const before = await memoryMb();
    await Promise.all(Array.from({ length: CONNECTIONS }, () => floodFrom(String(baseUrl()), request)));
    let most = 0;
    for (let count = 0; count < HEALTH_CHECKS; count++) {
      expect((await callApi(`${api.baseUrl()}/api/v1/health`)).status).toBe(200);
      most = Math.max(most, await memoryMb());
    }
    expect(most - before).toBeLessThan(growthMb);
  });

  test("leave the service healthy", () => expectHealthy(product));
});

test("a client that pipelines and reads gets every response, in order", async () => {
  const chats = Array.from({ length: 300 }, (_, index) => `chat-${index}`);
  const requests = chats.map((chat) =>
    [`GET /api/v1/messages/${chat} HTTP/1.1`, "Host: 127.0.0.1", ...keyed(), "", ""].join("\r\n"),
  );
  const { answers } = await exchangeRaw(api.baseUrl(), requests.join(""), { count: chats.length });
  expect(answers.map(({ body }) => body.chatId)).toEqual(chats);
});
