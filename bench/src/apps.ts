// Figures of the apps on their own: replicas, the widget, the tool server, their start, and the embedded default.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { WebSocket } from "ws";
import { APP_NAMES } from "@svc/contracts";
import { cpuOf, memoryOf, queryDatabase, startEmbeddedProduct, toolCall } from "@svc/testing";
import {
  FIXED,
  KEY,
  MESSAGE,
  NODE_OPTIONS,
  POST,
  WITHOUT_RATE_LIMIT,
  answerFixed,
  asyncPost,
  headersOf,
} from "./product.ts";
import type { Bench, PrepareStore } from "./product.ts";
import { loadOf, printFigure, summarize } from "./measure.ts";
import type { Load, Subject } from "./measure.ts";
import { pause } from "./processes.ts";

// Visitors of the widget who write, read the reply, and write again.

const frameOf = (type: string, data: unknown) => JSON.stringify({ v: 1, type, id: randomUUID(), data });

/** The connection of a visitor. */
interface Visitor {
  /** Sends a text; resolves to true when its reply arrives, to false if it is rejected or the connection ends. */
  ask(text: string): Promise<boolean>;
  close(): void;
}

/** Opens the connection of a visitor. Rejects if that fails. */
function openVisitor(url: string, key: string): Promise<Visitor> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/api/widget/ws?apiKey=${key}`, {
      perMessageDeflate: false,
    });
    let settle: (isAnswered: boolean) => void = () => {};
    socket.once("error", reject);
    socket.once("open", () => socket.send(frameOf("hello", { visitorId: randomUUID(), sinceSeq: 0 })));
    socket.once("close", (code) => {
      reject(new Error(`the line of a visitor has ended with ${code}`));
      settle(false);
    });
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString("utf8")) as { type: string; data: unknown };
      if (frame.type === "ready") {
        resolve({
          ask(text) {
            const answered = new Promise<boolean>((done) => (settle = done));
            socket.send(frameOf("message", { text, clientMessageId: randomUUID() }));
            return answered;
          },
          close: () => socket.terminate(),
        });
      }
      if (frame.type === "reply") settle(true);
      if (frame.type === "error") {
        reject(new Error(`a visitor was refused: ${JSON.stringify(frame.data)}`));
        settle(false);
      }
    });
  });
}

/** Limit of messages per connection: a visitor who has sent this many is replaced by another one. */
const MESSAGES_A_LINE = 80;

interface Conversations {
  urls: readonly string[];
  key: string;
  text: string;
  visitors: number;
}

/** Runs this many visitors for some seconds, each sending the next message after the reply to the last one. */
async function runConversations({ urls, key, text, visitors }: Conversations, seconds: number): Promise<Load> {
  const open = (number: number) => openVisitor(urls[number % urls.length] ?? "", key);
  const all = await Promise.all(Array.from({ length: visitors }, (_, number) => open(number)));
  const times: number[] = [];
  let refused = 0;
  const startedAt = performance.now();
  const until = startedAt + seconds * 1_000;
  await Promise.all(
    all.map(async (first, number) => {
      let visitor = first;
      for (let asked = 1; performance.now() < until; asked++) {
        const sentAt = performance.now();
        if (await visitor.ask(text)) times.push(performance.now() - sentAt);
        else refused++;
        if (asked % MESSAGES_A_LINE > 0) continue;
        visitor.close();
        visitor = await open(number);
      }
      all[number] = visitor;
    }),
  );
  const tookMs = performance.now() - startedAt;
  for (const visitor of all) visitor.close();
  return summarize(times, tookMs, { refused });
}

/** Delay after startup until an app counts as idle: V8 releases startup memory after about half a minute. */
const IDLE_AFTER_MS = 60_000;
/** Duration of the CPU measurement of an idle process. */
const IDLE_COUNTED_MS = 60_000;

/** Measures several replicas; the load generator distributes its connections over them. */
export async function measureReplicas({ withProduct, measureAll, servers }: Bench) {
  for (const [api, pipeline] of [
    [1, 1],
    [2, 1],
    [2, 2],
    [3, 4],
  ] as const) {
    const apps = { api, pipeline };
    await withProduct(`replicas_${api}_${pipeline}`, { prepareStore: answerFixed, apps }, async (product) => {
      const label = `${api} × api, ${pipeline} × pipeline`;
      const urls = product.urlsOf("api");
      const groups = { ...product.groups, ...servers };
      await measureAll([
        loadOf(`${label}, sync, 64 connections`, groups, { ...POST, connections: 64, urls }),
        loadOf(`${label}, async POST, 64 connections`, groups, { ...asyncPost(), urls }),
      ]);
    });
  }
}

/** Measures visitors who write, and read the reply on their connection. */
export async function measureWidget({ withProduct, measureAll, servers, options }: Bench) {
  const key = "wk_bench-0123456789abcdef";
  const unlimited = { socketsPerMinute: 100_000, messagesPerMinute: 10_000_000 };
  const prepareStore: PrepareStore = async (store, project) => {
    await answerFixed(store, project);
    await store.channelsConfig.update("widget", { apiKey: key, ...unlimited }, { enabled: true });
  };
  for (const widget of [1, 2]) {
    const apps = { pipeline: 1, widget };
    await withProduct(`widget_${widget}`, { prepareStore, apps }, async ({ urlsOf, groups }) => {
      const conversations = { urls: urlsOf("widget"), key, text: MESSAGE.text };
      for (const visitors of options.connections)
        await measureAll([
          {
            name: `${widget} × widget, ${visitors} visitors, text to reply`,
            groups: { ...groups, ...servers },
            run: (seconds) => runConversations({ ...conversations, visitors }, seconds),
          },
        ]);
    });
  }
}

export async function measureTools({ withProduct, measureAll, servers, options }: Bench) {
  const calls = { svc_list_agents: {}, svc_search_kb: { query: "Can a message get lost?" } };
  const apps = { "tool-server": 1 };
  await withProduct("tools", { prepareStore: answerFixed, apps }, async (product) => {
    const urls = product.urlsOf("tool-server");
    const groups = { ...product.groups, ...servers };
    for (const [name, args] of Object.entries(calls))
      for (const connections of options.connections) {
        const request = { ...toolCall(KEY, name, args), urls, connections };
        await measureAll([loadOf(`tool server, ${name}, ${connections} connections`, groups, request)]);
      }
  });
}

/** Measures the startup time of each app, and its memory once it is idle. */
export async function measureStart({ withProduct }: Bench) {
  const apps = Object.fromEntries(APP_NAMES.map((name) => [name, 1]));
  // The widget listens only if it is enabled.
  const prepareStore: PrepareStore = (store) => store.channelsConfig.update("widget", {}, { enabled: true });
  await withProduct("start", { prepareStore, apps }, async ({ started, groups }) => {
    await pause(IDLE_AFTER_MS);
    for (const [name, pid] of Object.entries(groups)) {
      const memory = Math.round((memoryOf(pid) ?? 0) / 1024 / 1024);
      printFigure(`${name}, start to ready`, `${Math.round(started[name] ?? NaN)} ms  idle memory ${memory} MB`);
    }
  });
}

/** Waits until the product is idle, and returns the share of a core that all its processes then use. */
async function measureIdle(groups: { all: number; postgres: number }): Promise<number> {
  await pause(IDLE_AFTER_MS);
  const before = cpuOf(groups);
  await pause(IDLE_COUNTED_MS);
  const after = cpuOf(groups);
  const shareOf = (name: "all" | "postgres") => (after[name] - before[name]) / IDLE_COUNTED_MS;
  const shares = (["all", "postgres"] as const).map((name) => `${name} ${(shareOf(name) * 100).toFixed(2)} %`);
  printFigure("embedded default, CPU when idle, of a core", shares.join(", "));
  return shareOf("all");
}

/** Measures the embedded default; in turns with `separate`, another product, if it is given. */
export async function measureEmbedded({ measureAll, scratch }: Bench, separate?: Subject) {
  const startedAt = performance.now();
  // On a disk: tests keep theirs in memory.
  const folder = join(scratch, "embedded");
  const product = await startEmbeddedProduct({ folder, env: { SVC_LOG_LEVEL: "info", NODE_OPTIONS } });
  try {
    printFigure("embedded default, first start to ready", `${Math.round(performance.now() - startedAt)} ms`);
    await queryDatabase(product.databaseUrl, WITHOUT_RATE_LIMIT);
    const answersFixed = "UPDATE agents SET fixed_reply = $1, review_policy = 'auto'";
    await queryDatabase(product.databaseUrl, answersFixed, [FIXED]);
    const groups = { all: product.pid, postgres: product.postgresPid };
    const idleShare = await measureIdle(groups);
    const subjectOf = (connections: number) => {
      const request = { ...POST, headers: headersOf(product.adminKey), url: product.apiUrl, connections };
      return loadOf(`embedded default, sync, ${connections} connections`, groups, request);
    };
    if (separate !== undefined) {
      const [comparison] = await measureAll([separate, { ...subjectOf(64), relativeTo: [separate] }]);
      return { idleShare, rate: comparison?.rate };
    }
    for (const connections of [1, 16, 64]) await measureAll([subjectOf(connections)]);
    return { idleShare };
  } finally {
    await product.stop();
  }
}
