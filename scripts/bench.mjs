// `npm run bench`: the product as separate processes on Redis and PostgreSQL, and as the embedded default.
//   npm run bench -- [--seconds 5] [--runs 3] [--floor FOLDER] [--only sync,search,embedded]
// --floor names a folder with a comparison program (api.mjs, worker.mjs, schema.sql): it is measured in the same run,
// with the same load. Needs redis-server in the PATH.
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { load } from "./bench/load.mjs";
import { cpuOf, freePort, start, stop, until } from "./bench/processes.mjs";
import { ROOT, prepare } from "./prepare.mjs";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "5" },
    runs: { type: "string", default: "3" },
    floor: { type: "string" },
    only: { type: "string", default: "sync,search,embedded" },
  },
});
const seconds = Number(values.seconds);
const runs = Number(values.runs);
const wanted = values.only.split(",");
const KEY = "bench-key-0123456789abcdef";
const FIXED = "Thank you. We have received your message and will come back to you.";
const BODY = JSON.stringify({
  text: "My invoice 2231 shows the wrong amount, can you check it please?",
  userId: "u-1",
  meta: { source: "bench" },
});
/** One key from one address makes more calls here than its rate limit would let through. */
const WITHOUT_RATE_LIMIT = "UPDATE api_keys SET rate_limit = 0";
const HEADERS = { "content-type": "application/json", authorization: `Bearer ${KEY}` };
const quietLog = { info() {}, warn: console.error, error: console.error, debug() {}, fatal: console.error };

await prepare((line) => console.error(line));
const { startEmbeddedPostgres } = await import("../packages/embedded/dist/index.js");
const { migrateAll, loadConfig, openResources, closeResources } = await import("../packages/runtime/dist/index.js");
const { initialize } = await import("../packages/operations/dist/index.js");
const { addDocument, ensureKb } = await import("../packages/knowledge/dist/index.js");
const pg = createRequire(join(ROOT, "packages", "store", "package.json"))("pg");

const scratch = mkdtempSync(join(tmpdir(), "svc-bench-"));
const rows = [];

/** Several runs; the one with the median rate is shown, so that a neighbour's noise does not decide. */
async function measure(name, { url, connections, groups, warmUp = 1, ...request }) {
  await load({ url, path: "/api/v1/messages", headers: HEADERS, body: BODY, connections, seconds: warmUp, ...request });
  const all = [];
  for (let run = 0; run < runs; run++) {
    const before = cpuOf(groups);
    const result = await load({
      url,
      path: "/api/v1/messages",
      headers: HEADERS,
      body: BODY,
      connections,
      seconds,
      ...request,
    });
    const after = cpuOf(groups);
    const cpu = Object.fromEntries(
      Object.keys(groups).map((group) => [
        group,
        Math.round(((after[group] - before[group]) * 1_000) / result.requests),
      ]),
    );
    all.push({ ...result, cpu });
  }
  const median = all.sort((a, b) => a.perSecond - b.perSecond)[(all.length - 1) >> 1];
  const row = { name, ...median };
  rows.push(row);
  const faults = Object.keys(median.bad).length === 0 ? "" : ` UNEXPECTED ${JSON.stringify(median.bad)}`;
  console.log(
    `${name.padEnd(44)} ${median.perSecond.toFixed(0).padStart(6)}/s  p50 ${median.p50.toFixed(2)} ms  p99 ${median.p99.toFixed(2)} ms  CPU µs a request ${JSON.stringify(median.cpu)}${faults}`,
  );
  return row;
}

/** Text whose words are as common and as rare as in real text, and questions of words that stand in one passage. */
function makeCorpus(sections) {
  const word = () => `word${Math.floor(5_000 ** Math.random())}`;
  const passages = Array.from({ length: sections }, () => Array.from({ length: 90 }, word));
  const text = passages.map((words, index) => `## Topic ${index}\n\n${words.join(" ")}.\n`).join("\n");
  const pick = (list) => list[Math.floor(Math.random() * list.length)];
  const question = () => {
    const words = pick(passages);
    return Array.from({ length: 8 }, () => pick(words)).join(" ");
  };
  return { text, question };
}

async function withProduct(databaseUrl, redisUrl, prepareStore, work) {
  const env = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    SVC_ADMIN_KEY: KEY,
    SVC_SECRET_KEY: "bench-secret-key-0123456789abcdefghij",
    SVC_LOG_LEVEL: "warn",
    SVC_API_PORT: String(await freePort()),
    SVC_QUEUE_PREFIX: "bench",
  };
  const config = loadConfig(env);
  await migrateAll(databaseUrl, quietLog);
  const resources = await openResources(config, { app: "bench", log: quietLog });
  const { project } = await initialize(resources, {
    configuredAdminKey: KEY,
    guideDir: join(ROOT, "docs", "guide"),
    showsKey: true,
  });
  await query(databaseUrl, WITHOUT_RATE_LIMIT);
  await prepareStore(resources.store, project);
  await closeResources(resources);
  const api = start(process.execPath, [join(ROOT, "apps/api/dist/main.js")], { env });
  const pipeline = start(process.execPath, [join(ROOT, "apps/pipeline/dist/main.js")], { env });
  const url = `http://127.0.0.1:${env.SVC_API_PORT}`;
  try {
    await until("the product", async () => (await fetch(`${url}/api/v1/health`)).ok);
    await work(url, { api: api.pid, pipeline: pipeline.pid });
  } finally {
    await Promise.all([stop(api), stop(pipeline)]);
  }
}

async function query(databaseUrl, sql, params) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const result = await client.query(sql, params);
  await client.end();
  return result.rows;
}

const postgres = await startEmbeddedPostgres({
  dataDir: join(scratch, "data"),
  log: quietLog,
  settings: { max_wal_size: "1GB" },
});
const redisPort = await freePort();
const redis = start(
  "redis-server",
  [
    "--port",
    redisPort,
    "--bind",
    "127.0.0.1",
    "--dir",
    scratch,
    "--appendonly",
    "yes",
    "--appendfsync",
    "everysec",
    "--save",
    "",
    "--maxmemory-policy",
    "noeviction",
  ].map(String),
);
const redisUrl = `redis://127.0.0.1:${redisPort}`;
const servers = { redis: redis.pid, postgres: postgres.pid };
const databaseOf = async (name) => {
  await query(postgres.superuserUrl, `CREATE DATABASE ${name}`);
  return postgres.url.replace(/\/svc$/, `/${name}`);
};

try {
  console.log(
    `${cpus().length} × ${cpus()[0]?.model ?? "?"}, Node.js ${process.versions.node}, ${runs} runs of ${seconds} s, the median shown\n`,
  );
  let floor64;
  if (values.floor !== undefined && wanted.includes("sync")) {
    const folder = join(scratch, "floor");
    cpSync(resolve(values.floor), folder, { recursive: true });
    execFileSync("chmod", ["-R", "u+w", folder]);
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--silent"], { cwd: folder, stdio: "inherit" });
    const url = await databaseOf("floor");
    await query(url, readFileSync(join(folder, "schema.sql"), "utf8"));
    const port = await freePort();
    const env = { PORT: String(port), REDIS_PORT: String(redisPort), PG_URL: url, FLOOR_KEY: KEY };
    const api = start(process.execPath, ["api.mjs"], { cwd: folder, env });
    const worker = start(process.execPath, ["worker.mjs"], { cwd: folder, env });
    const base = `http://127.0.0.1:${port}`;
    await until("the floor", async () => (await fetch(`${base}/api/v1/health`)).ok);
    for (const connections of [1, 16, 64]) {
      const row = await measure(`floor (plain), sync, ${connections} connections`, {
        url: base,
        connections,
        groups: { api: api.pid, worker: worker.pid, ...servers },
      });
      if (connections === 64) floor64 = row;
    }
    await Promise.all([stop(api), stop(worker)]);
  }

  if (wanted.includes("sync")) {
    const fixed = (store, project) =>
      store.agents.insert(project.id, { name: "fixed", fixedReply: FIXED, reviewPolicy: "auto" });
    const url = await databaseOf("fixed");
    await withProduct(
      url,
      redisUrl,
      async (store, project) => {
        await query(url, "UPDATE agents SET enabled = false");
        await fixed(store, project);
      },
      async (base, groups) => {
        for (const connections of [1, 16, 64]) {
          const row = await measure(`product, fixed answer, sync, ${connections} connections`, {
            url: base,
            connections,
            groups: { ...groups, ...servers },
          });
          if (connections === 64 && floor64 !== undefined)
            console.log(`${"".padEnd(44)} ${(row.perSecond / floor64.perSecond).toFixed(2)} of the floor`);
        }
      },
    );
  }

  if (wanted.includes("search")) {
    const url = await databaseOf("search");
    let questions = [];
    await withProduct(
      url,
      redisUrl,
      async (store, project) => {
        await query(url, "UPDATE agents SET enabled = false");
        const { kb } = await ensureKb({ store }, project.id, "bench");
        const corpora = Array.from({ length: 10 }, () => makeCorpus(100));
        questions = corpora.map((corpus) => corpus.question);
        for (let part = 0; part < 10; part++)
          await addDocument({ store, log: quietLog }, project.id, kb.id, {
            key: `part-${part}.md`,
            text: corpora[part].text,
            mime: "text/markdown",
          });
        await store.agents.insert(project.id, { name: "search", kbIds: [kb.id], reviewPolicy: "auto" });
      },
      async (base, groups) => {
        const [{ count }] = await query(
          url,
          "SELECT count(*) AS count FROM chunks c JOIN kbs k ON k.id = c.kb_id WHERE k.name = 'bench'",
        );
        const body = () => JSON.stringify({ text: questions[Math.floor(Math.random() * questions.length)]() });
        for (const connections of [1, 16])
          await measure(`product, ${count} chunks searched, sync, ${connections} conn.`, {
            url: base,
            connections,
            body,
            groups: { ...groups, ...servers },
            expect: 200,
          });
      },
    );
  }

  if (wanted.includes("embedded")) {
    const port = await freePort();
    const env = { SVC_DATA_DIR: join(scratch, "embedded"), SVC_API_PORT: String(port), SVC_ADMIN_KEY: KEY };
    const startedAt = performance.now();
    const app = start(process.execPath, [join(ROOT, "apps/standalone/dist/main.js")], { env });
    const base = `http://127.0.0.1:${port}`;
    await until("the embedded default", async () => (await fetch(`${base}/api/v1/health`)).ok);
    console.log(
      `${"embedded default, first start to ready".padEnd(44)} ${Math.round(performance.now() - startedAt)} ms`,
    );
    const password = readFileSync(join(scratch, "embedded", "postgres-password"), "utf8").trim();
    const pidFile = readFileSync(join(scratch, "embedded", "postgres", "postmaster.pid"), "utf8").split("\n");
    const url = `postgres://svc:${encodeURIComponent(password)}@127.0.0.1:${pidFile[3]}/svc`;
    await query(url, WITHOUT_RATE_LIMIT);
    await query(url, "UPDATE agents SET fixed_reply = $1, review_policy = 'auto'", [FIXED]);
    await new Promise((done) => setTimeout(done, 1_500));
    for (const connections of [1, 16, 64])
      await measure(`embedded default, fixed answer, sync, ${connections} conn.`, {
        url: base,
        connections,
        groups: { all: app.pid, postgres: Number(pidFile[0]) },
      });
    await stop(app);
  }
} finally {
  await stop(redis);
  await postgres.stop();
  rmSync(scratch, { recursive: true, force: true });
}
