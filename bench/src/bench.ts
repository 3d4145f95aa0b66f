// `npm run bench`: the product as separate processes on Redis and PostgreSQL, and as the embedded default.
//   npm run bench -- [--seconds 5] [--runs 3] [--warm-up 0] [--connections 1,16,64,256] [--messages 20000]
//                    [--only sync,async,end,drain,limit,callbacks,replicas,widget,mcp,start,search,lists,embedded,counts]
//                    [--floor FOLDER] [--variant 'fast: DB=batch REPLY=stream CONCURRENCY=100']
//                    [--sizes 1000,10000,100000] [--tickets 100000] [--explain] [--profile FOLDER]
// --warm-up is for how many seconds each program does sync calls of 64 connections before anything is measured: a process
// that has just started compiles what it runs, and the more code there is, the longer.
// --floor names a folder with a comparison program (api.mjs, worker.mjs, schema.sql): it is measured in turns with the
// product, with the same load; each --variant adds one more of it, with these settings. --messages are those that are
// sent and collected (end). --sizes are passages of the knowledge bases that are searched, --tickets those of the project
// whose lists are asked for, and --explain prints how PostgreSQL reads them. --profile makes the apps write CPU profiles.
// Needs redis-server in the PATH.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { startEmbeddedPostgres } from "@svc/embedded";
import { addDocuments, ensureKb } from "@svc/knowledge";
import { repositoryPath } from "@svc/testing";
import { measureCallbacks } from "./callbacks.ts";
import { runConversations } from "./conversations.ts";
import { startCountingProxy } from "./counting-proxy.ts";
import { measureCounts } from "./counts.ts";
import { queryDatabase as query } from "@svc/testing";
import { runEndToEnd } from "./end-to-end.ts";
import { startFloor } from "./floor.ts";
import { measureLists } from "./lists.ts";
import { load } from "./load.ts";
import { measure, printFigure } from "./measure.ts";
import { WITHOUT_RATE_LIMIT, quietLog, startProduct } from "./product.ts";
import { cpuOf, freePort, memoryOf } from "@svc/testing";
import { start, stop, until } from "./processes.ts";
import { measureSearches } from "./search.ts";
import { createCorpus } from "./search-corpus.ts";
import { toolCall } from "@svc/testing";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "5" },
    runs: { type: "string", default: "3" },
    "warm-up": { type: "string", default: "0" },
    connections: { type: "string", default: "1,16,64,256" },
    messages: { type: "string", default: "20000" },
    floor: { type: "string" },
    variant: { type: "string", multiple: true, default: [] },
    only: {
      type: "string",
      default: "sync,async,end,drain,limit,callbacks,replicas,widget,mcp,start,search,lists,embedded,counts",
    },
    sizes: { type: "string", default: "1000,10000,100000" },
    tickets: { type: "string", default: "100000" },
    explain: { type: "boolean", default: false },
    profile: { type: "string" },
  },
});
if (values.floor !== undefined && !existsSync(join(values.floor, "api.mjs")))
  throw new Error(`--floor is "${values.floor}"; it is a folder with api.mjs, worker.mjs and schema.sql`);
const seconds = Number(values.seconds);
const runs = Number(values.runs);
const warmUpSeconds = Number(values["warm-up"]);
const wanted = new Set(values.only.split(","));
const connectionCounts = values.connections.split(",").map(Number);
/** The floor as it is by default, and in other variants: each a name and its environment. */
const variants = [
  { name: "plain", settings: {} },
  ...values.variant.map((text) => {
    const [, name, settings] = /^(\w+): *(.+)$/.exec(text) ?? [];
    if (name === undefined) throw new Error("--variant is a name, a colon and settings, as in 'fast: DB=batch'");
    return { name, settings: Object.fromEntries(settings.split(/ +/).map((setting) => setting.split("="))) };
  }),
];
const measureAll = (subjects) => measure(subjects, { runs, seconds });

const KEY = "bench-key-0123456789abcdef";
/** A key that is counted like any other, with a limit that it does not reach. */
const COUNTED_KEY = "bench-counted-key-0123456789abcdef";
const COUNTED_LIMIT = 1_000_000;
const FIXED = "Thank you. We have received your message and will come back to you.";
const MESSAGE = {
  text: "My invoice 2231 shows the wrong amount, can you check it please?",
  userId: "u-1",
  meta: { source: "bench" },
};
/** After the start, until an app is idle: V8 gives back what it grew by at the start about half a minute later. */
const IDLE_AFTER_MS = 60_000;
/** How long the CPU of an idle process is counted. */
const IDLE_COUNTED_MS = 30_000;
const MESSAGES_PATH = "/api/v1/messages";
const headersOf = (key) => ({ "content-type": "application/json", authorization: `Bearer ${key}` });
const POST = { path: MESSAGES_PATH, headers: headersOf(KEY), body: JSON.stringify(MESSAGE) };
const asyncPost = (fields) => ({
  ...POST,
  connections: 64,
  body: JSON.stringify({ ...MESSAGE, mode: "async", ...fields }),
  expect: 202,
});
/** Each connection looks into a chat of its own, as callers do. */
const EMPTY_DRAIN = {
  path: (number) => `${MESSAGES_PATH}/nothing-here-${number}?wait=0`,
  method: "GET",
  headers: headersOf(KEY),
  body: "",
  connections: 64,
};

const scratch = mkdtempSync(join(tmpdir(), "svc-bench-"));

const postgres = await startEmbeddedPostgres({
  dataDir: join(scratch, "data"),
  log: quietLog,
  maxConnections: 100,
  settings: { max_wal_size: "1GB" },
});
const redisPort = await freePort();
const redisOptions = {
  port: redisPort,
  bind: "127.0.0.1",
  dir: scratch,
  appendonly: "yes",
  appendfsync: "everysec",
  save: "",
  "maxmemory-policy": "noeviction",
};
const redis = start(
  "redis-server",
  Object.entries(redisOptions).flatMap(([name, value]) => [`--${name}`, String(value)]),
);
async function closeServers() {
  await stop(redis);
  await postgres.stop();
  rmSync(scratch, { recursive: true, force: true });
}
// PostgreSQL would outlive this process; its other children end with it.
for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, () => void closeServers().finally(() => process.exit(1)));

const servers = { redis: redis.pid, postgres: postgres.pid };

async function createDatabase(name) {
  await query(postgres.maintenanceUrl, `CREATE DATABASE ${name}`);
  return postgres.url.replace(/\/svc$/, `/${name}`);
}

async function withProduct(name, { prepareStore, apps, databaseUrl }, work) {
  const product = await startProduct({
    databaseUrl: databaseUrl ?? (await createDatabase(name)),
    redisUrl: `redis://127.0.0.1:${redisPort}`,
    key: KEY,
    profileDir: values.profile === undefined ? undefined : resolve(values.profile, name),
    prepareStore,
    ...(apps === undefined ? {} : { apps }),
  });
  try {
    await work(product);
  } finally {
    await product.stop();
  }
}

/** An agent that always answers the same. */
const answerFixed = (store, project) =>
  store.agents.insert(project.id, { name: "fixed", fixedReply: FIXED, reviewPolicy: "auto" });

/** An agent that answers from a knowledge base of made-up documents. */
const answerFromCorpus = (corpus) => async (store, project) => {
  const { kb } = await ensureKb({ store }, project.id, "bench");
  await addDocuments({ store, log: quietLog }, project.id, kb.id, corpus.documents);
  await store.agents.insert(project.id, { name: "search", kbIds: [kb.id], reviewPolicy: "auto" });
};

/** A request measured on the product, in turns with the same on the floors where there are any. */
function compare(name, request, { product, floors }, run) {
  const subjectOf = (program) => ({
    name: `${program.name}, ${name}`,
    request: () => ({ ...request(), url: program.url }),
    groups: { ...program.groups, ...servers },
    ...(run === undefined ? {} : { run }),
  });
  const relativeTo = floors.map(subjectOf);
  return measureAll([...relativeTo, { ...subjectOf(product), relativeTo }]);
}

/** What counting for the rate limit costs: the same on the product with a key that is not counted and one that is. */
async function compareCounting(name, request, { product }) {
  const subjectOf = (label, key) => ({
    name: `product, ${name}, ${label}`,
    request: () => ({ ...request(), url: product.url, headers: headersOf(key) }),
    groups: { ...product.groups, ...servers },
  });
  const free = subjectOf("no limit", KEY);
  await measureAll([free, { ...subjectOf("counted", COUNTED_KEY), relativeTo: [free] }]);
}

async function addCountedKey({ url }) {
  const key = { name: "counted", key: COUNTED_KEY, scopes: ["messages:*"], rateLimit: COUNTED_LIMIT };
  const answer = await fetch(`${url}/api/v1/admin/keys`, {
    method: "POST",
    headers: headersOf(KEY),
    body: JSON.stringify(key),
  });
  if (answer.status !== 201) throw new Error(`the counted key was not made: ${await answer.text()}`);
}

/** The figures with a fixed answer, which are what the floor does too. */
const COMPARED = {
  async sync(programs) {
    for (const connections of connectionCounts)
      await compare(`sync, ${connections} connections`, () => ({ ...POST, connections }), programs);
  },
  async async(programs) {
    for (const connections of connectionCounts)
      await compare(`async POST, ${connections} connections`, () => ({ ...asyncPost(), connections }), programs);
    // One conversation is worked on in its order, so that all messages in one chat is the slowest case there is.
    await compare("async POST in one chat, 64 connections", () => asyncPost({ chatId: `one-${Date.now()}` }), programs);
  },
  async end(programs) {
    const request = () => ({ ...POST, message: MESSAGE, count: Number(values.messages) });
    await compare(`${values.messages} async messages, all collected`, request, programs, runEndToEnd);
  },
  async drain(programs) {
    for (const connections of connectionCounts)
      await compare(`empty drain, ${connections} connections`, () => ({ ...EMPTY_DRAIN, connections }), programs);
  },
  async limit(programs) {
    await addCountedKey(programs.product);
    await compareCounting("async POST", () => asyncPost(), programs);
    await compareCounting("empty drain", () => EMPTY_DRAIN, programs);
  },
  async callbacks({ product }) {
    await measureCallbacks(product, {
      request: POST,
      groups: { ...product.groups, ...servers },
      inFlight: connectionCounts,
      connections: 64,
      runs,
      seconds,
    });
  },
};

async function measureCompared(names) {
  const floors = [];
  try {
    for (const variant of values.floor === undefined ? [] : variants) {
      const databaseUrl = await createDatabase(`floor_${variant.name}`);
      floors.push(await startFloor({ ...variant, folder: values.floor, scratch, databaseUrl, redisPort, key: KEY }));
    }
    await withProduct("fixed", { prepareStore: answerFixed }, async (product) => {
      for (const { url } of [...floors, product])
        if (warmUpSeconds > 0) await load({ ...POST, url, connections: 64, seconds: warmUpSeconds });
      for (const name of names) await COMPARED[name]({ product, floors });
    });
  } finally {
    for (const floor of floors) await floor.stop();
  }
}

/** Several replicas behind whoever spreads the connections over them, which here is the load generator. */
async function measureReplicas() {
  for (const [api, pipeline] of [
    [1, 1],
    [2, 1],
    [2, 2],
    [3, 4],
  ]) {
    const apps = { api, pipeline };
    await withProduct(`replicas_${api}_${pipeline}`, { prepareStore: answerFixed, apps }, async ({ urls, groups }) => {
      const label = `${api} × api, ${pipeline} × pipeline`;
      const subjectOf = (name, request) => ({
        name: `${label}, ${name}, 64 connections`,
        request: { ...request, urls: urls.api },
        groups: { ...groups, ...servers },
      });
      await measureAll([subjectOf("sync", { ...POST, connections: 64 }), subjectOf("async POST", asyncPost())]);
    });
  }
}

/** Visitors who write, and read the reply on their line. */
async function measureWidget() {
  const widgetKey = "wk_bench-0123456789abcdef";
  const unlimited = { socketsPerMinute: 100_000, messagesPerMinute: 10_000_000 };
  const prepareStore = async (store, project) => {
    await answerFixed(store, project);
    await store.channelsConfig.update("widget", { apiKey: widgetKey, ...unlimited }, { enabled: true });
  };
  for (const widget of [1, 2]) {
    const apps = { pipeline: 1, widget };
    await withProduct(`widget_${widget}`, { prepareStore, apps }, async ({ urls, groups }) => {
      for (const visitors of connectionCounts)
        await measureAll([
          {
            name: `${widget} × widget, ${visitors} visitors, text to reply`,
            request: { urls: urls.widget, key: widgetKey, text: MESSAGE.text, visitors },
            groups: { ...groups, ...servers },
            run: runConversations,
          },
        ]);
    });
  }
}

async function measureTools() {
  const calls = {
    svc_list_agents: {},
    svc_search_kb: { query: "Can a message get lost?" },
  };
  await withProduct("tools", { prepareStore: answerFixed, apps: { "tool-server": 1 } }, async ({ urls, groups }) => {
    for (const [name, args] of Object.entries(calls))
      for (const connections of connectionCounts)
        await measureAll([
          {
            name: `tool server, ${name}, ${connections} connections`,
            request: { ...toolCall(KEY, name, args), urls: urls["tool-server"], connections },
            groups: { ...groups, ...servers },
          },
        ]);
  });
}

/** How long each app takes until it is ready, and what memory it has once it is idle. */
async function measureStart() {
  const apps = { api: 1, pipeline: 1, widget: 1, messenger: 1, "tool-server": 1, console: 1 };
  // The widget listens only where it is enabled.
  const prepareStore = (store) => store.channelsConfig.update("widget", {}, { enabled: true });
  await withProduct("start", { prepareStore, apps }, async ({ started, groups }) => {
    await new Promise((resolve) => setTimeout(resolve, IDLE_AFTER_MS));
    for (const [name, pid] of Object.entries(groups)) {
      const memory = Math.round((memoryOf(pid) ?? 0) / 1024 / 1024);
      printFigure(`${name}, start to ready`, `${Math.round(started[name])} ms  idle memory ${memory} MB`);
    }
  });
}

async function measureSearch() {
  await measureSearches({
    sizes: values.sizes.split(",").map(Number),
    createDatabase,
    groups: { postgres: postgres.pid },
    runs,
    seconds,
  });
  const corpus = createCorpus(1_000);
  await withProduct("search", { prepareStore: answerFromCorpus(corpus) }, async ({ url, databaseUrl, groups }) => {
    const [{ count }] = await query(
      databaseUrl,
      "SELECT count(*) AS count FROM chunks c JOIN kbs k ON k.id = c.kb_id WHERE k.name = 'bench'",
    );
    const body = () => JSON.stringify({ text: corpus.question() });
    for (const connections of connectionCounts)
      await measureAll([
        {
          name: `product, ${count} chunks searched, sync, ${connections} connections`,
          request: { ...POST, url, connections, body },
          groups: { ...groups, ...servers },
        },
      ]);
  });
}

/** Round trips of a message, and of all apps when they are idle. */
async function countRoundTrips() {
  const corpus = createCorpus(200);
  const prepareStore = async (store, project) => {
    await answerFromCorpus(corpus)(store, project);
    await store.channelsConfig.update("widget", {}, { enabled: true });
  };
  const apps = { api: 1, pipeline: 1, widget: 1, messenger: 1, "tool-server": 1, console: 1 };
  const proxy = await startCountingProxy(await createDatabase("counts"));
  const bodyOf = (chatId, fields) => JSON.stringify({ ...fields, chatId, text: corpus.question() });
  try {
    await withProduct("counts", { prepareStore, apps, databaseUrl: proxy.url }, (product) =>
      measureCounts(product, { proxy, redisPort, prefix: "bench", request: POST, bodyOf }),
    );
  } finally {
    proxy.close();
  }
}

async function measureListsOfTickets() {
  const options = { key: KEY, tickets: Number(values.tickets), runs, seconds, explains: values.explain };
  await withProduct("lists", { prepareStore: async () => {} }, (product) => measureLists(product, options));
}

async function measureEmbedded() {
  const port = await freePort();
  const env = { SVC_DATA_DIR: join(scratch, "embedded"), SVC_API_PORT: String(port), SVC_ADMIN_KEY: KEY };
  const startedAt = performance.now();
  const app = start(process.execPath, [repositoryPath("apps/standalone/dist/main.js")], { env });
  const url = `http://127.0.0.1:${port}`;
  await until("the embedded default", async () => (await fetch(`${url}/api/v1/health`)).ok);
  printFigure("embedded default, first start to ready", `${Math.round(performance.now() - startedAt)} ms`);
  const password = readFileSync(join(scratch, "embedded", "postgres-password"), "utf8").trim();
  const pidFile = readFileSync(join(scratch, "embedded", "postgres", "postmaster.pid"), "utf8").split("\n");
  const databaseUrl = `postgres://svc:${encodeURIComponent(password)}@127.0.0.1:${pidFile[3]}/svc`;
  await query(databaseUrl, WITHOUT_RATE_LIMIT);
  await query(databaseUrl, "UPDATE agents SET fixed_reply = $1, review_policy = 'auto'", [FIXED]);
  await new Promise((resolve) => setTimeout(resolve, IDLE_AFTER_MS));
  const groups = { all: app.pid, postgres: Number(pidFile[0]) };
  const usedBefore = cpuOf(groups);
  await new Promise((resolve) => setTimeout(resolve, IDLE_COUNTED_MS));
  const shares = Object.entries(cpuOf(groups)).map(
    ([name, ms]) => `${name} ${(((ms - usedBefore[name]) / IDLE_COUNTED_MS) * 100).toFixed(2)} %`,
  );
  printFigure("embedded default, CPU when idle, of a core", shares.join(", "));
  for (const connections of [1, 16, 64])
    await measureAll([
      {
        name: `embedded default, sync, ${connections} connections`,
        request: { ...POST, url, connections },
        groups,
      },
    ]);
  await stop(app);
}

try {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "?"}, Node.js ${process.versions.node}`;
  console.log(`${machine}, ${runs} runs of ${seconds} s: the median [slowest-fastest]\n`);
  const compared = Object.keys(COMPARED).filter((name) => wanted.has(name));
  if (compared.length > 0) await measureCompared(compared);
  if (wanted.has("replicas")) await measureReplicas();
  if (wanted.has("widget")) await measureWidget();
  if (wanted.has("mcp")) await measureTools();
  if (wanted.has("start")) await measureStart();
  if (wanted.has("search")) await measureSearch();
  if (wanted.has("lists")) await measureListsOfTickets();
  if (wanted.has("embedded")) await measureEmbedded();
  if (wanted.has("counts")) await countRoundTrips();
} finally {
  await closeServers();
}
