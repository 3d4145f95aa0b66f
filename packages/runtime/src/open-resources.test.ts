import { connect, createServer } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import {
  collectLog,
  createTestDatabase,
  createTestQueueBackend,
  findRedisServer,
  freePort,
  repositoryPath,
  startRedis,
  testLog,
  waitFor,
} from "@svc/testing";
import type { TestDatabase, TestQueueBackend } from "@svc/testing";
import pg from "pg";
import { loadConfig } from "./load-config.ts";
import type { Config } from "./load-config.ts";
import {
  StartError,
  closeResources,
  explainStoreError,
  findClockProblem,
  migrateAll,
  openResources,
} from "./open-resources.ts";
import type { Resources } from "./open-resources.ts";

const SECRET_KEY = "0123456789abcdef0123456789abcdef";

let database: TestDatabase;
let backend: TestQueueBackend;
const opened: Resources[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  backend = await createTestQueueBackend();
});

afterEach(() => closeAll());

afterAll(async () => {
  await backend.stop();
  await database.drop();
});

async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map(closeResources));
}

function configOf(url: string, env: Record<string, string> = {}): Config {
  return loadConfig({
    DATABASE_URL: url,
    SVC_SECRET_KEY: SECRET_KEY,
    SVC_QUEUE_PREFIX: backend.prefix,
    ...(backend.redisUrl === undefined ? {} : { REDIS_URL: backend.redisUrl }),
    ...env,
  });
}

async function open(config: Config): Promise<Resources> {
  const resources = await openResources(config, { app: "test", log: testLog() });
  opened.push(resources);
  return resources;
}

async function runSql<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Returns the URL with a part changed, for the same server and user. */
function changed(url: string, change: (url: URL) => void): string {
  const other = new URL(url);
  change(other);
  return other.href;
}

/** Counts the connections of an app to the database of this file. */
async function countConnections(): Promise<number> {
  const rows = await runSql<{ count: string }>(
    database.url,
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
  );
  return Number(rows[0]?.count);
}

describe("resources", () => {
  test("are a store and queues that work, and leave no connection when they are closed", async () => {
    const { store, queues, config } = await open(configOf(database.url));
    expect(await store.ping()).toBe(true);
    await waitFor(() => queues.isUp(), { what: "the queues to be up" });
    expect(config.databaseUrl).toBe(database.url);
    await closeAll();
    await waitFor(async () => (await countConnections()) === 0, { what: "every connection to be closed" });
  });

  test("are opened by several processes with the same secret key", async () => {
    await Promise.all([open(configOf(database.url)), open(configOf(database.url))]);
    expect(opened).toHaveLength(2);
  });
});

describe("a process does not start", () => {
  /** Returns the error message of a start that fails; closes everything. */
  async function refusal(config: Config): Promise<string> {
    const error: unknown = await open(config).catch((problem: unknown) => problem);
    expect(error).toBeInstanceOf(StartError);
    return (error as StartError).message;
  }

  test("on an empty database, and is told to migrate", async () => {
    const name = `svc_empty_${newId().replaceAll("-", "")}`;
    await runSql(database.url, `CREATE DATABASE ${name}`);
    try {
      const url = changed(database.url, (other) => {
        other.pathname = `/${name}`;
      });
      expect(await refusal(configOf(url))).toMatch(/schema is older.*svc migrate/);
      await migrateAll(url, testLog());
      await migrateAll(url, testLog());
      const { store } = await open(configOf(url));
      expect(await store.ping()).toBe(true);
      await closeAll();
    } finally {
      await runSql(database.url, `DROP DATABASE ${name} WITH (FORCE)`);
    }
  });

  test("on a schema that lacks the newest migration", async () => {
    const old = await createTestDatabase();
    try {
      await runSql(old.url, "DELETE FROM schema_migrations WHERE name = (SELECT max(name) FROM schema_migrations)");
      expect(await refusal(configOf(old.url))).toMatch(/schema is older.*svc migrate/);
    } finally {
      await old.drop();
    }
  });

  test("with another secret key than the store was set up with, which is not shown", async () => {
    await open(configOf(database.url));
    const other = "another-secret-key-of-32-characters";
    const text = await refusal(configOf(database.url, { SVC_SECRET_KEY: other }));
    expect(text).toMatch(/^SVC_SECRET_KEY is not the key .* Set it to the key used at the first startup\.$/);
    expect(text).not.toContain(other);
    // The correct key still opens it.
    expect(await (await open(configOf(database.url))).store.ping()).toBe(true);
  });

  test.each<[string, (url: URL) => void]>([
    [
      "a user that is not there",
      (url) => {
        url.username = "nobody-of-this-name";
        url.password = "planted-password";
      },
    ],
    [
      "a database that is not there",
      (url) => {
        url.pathname = "/no-such-database";
      },
    ],
  ])("with %s, and is told what to check", async (_what, change) => {
    const url = changed(database.url, change);
    const text = await refusal(configOf(url));
    expect(text).toMatch(/PostgreSQL rejected the connection .*Check the user, password and database in DATABASE_URL/);
    expect(text).not.toContain(new URL(url).password);
  });
});

test("a process that starts before its store waits for it and says so", async () => {
  const port = await freePort();
  const { log, lines } = collectLog();
  const url = changed(database.url, (other) => {
    other.port = String(port);
  });
  const opening = openResources(configOf(url), { app: "test", log });
  await waitFor(() => lines().some(({ level, msg }) => level === "warn" && msg?.includes("waiting")), {
    what: "the process to say that it waits",
  });
  // From now on the address accepts connections and forwards them to the real server.
  const real = new URL(database.url);
  const way = createServer((client) => {
    const server = connect(Number(real.port), real.hostname);
    client.on("error", () => server.destroy());
    server.on("error", () => client.destroy());
    client.pipe(server).pipe(client);
  });
  await new Promise<void>((resolve) => {
    way.listen(port, "127.0.0.1", resolve);
  });
  const resources = await opening;
  expect(await resources.store.ping()).toBe(true);
  await closeResources(resources);
  way.close();
});

test("a process starts while its Redis cannot be reached, and says once that messages wait", async () => {
  const { log, lines } = collectLog();
  const config = configOf(database.url, { REDIS_URL: `redis://127.0.0.1:${await freePort()}` });
  opened.push(await openResources(config, { app: "test", log }));
  expect(lines().map(({ level, msg }) => ({ level, msg }))).toEqual([
    { level: "warn", msg: "Redis unavailable; messages are accepted and processed later" },
  ]);
});

((await findRedisServer()) === null ? test.skip : test)(
  "a Redis that may drop jobs keeps a process in production from starting, and elsewhere is warned of",
  async () => {
    const redis = await startRedis();
    try {
      await sendToRedis(redis.port, "CONFIG SET maxmemory-policy allkeys-lru");
      const { log, lines } = collectLog();
      const config = configOf(database.url, { REDIS_URL: redis.url });
      opened.push(await openResources(config, { app: "test", log }));
      expect(lines().map(({ level, msg }) => ({ level, msg }))).toEqual([
        { level: "warn", msg: expect.stringMatching(/allkeys-lru.*Set "maxmemory-policy noeviction"/) },
      ]);
      await closeAll();
      const production = configOf(database.url, { REDIS_URL: redis.url, NODE_ENV: "production" });
      await expect(open(production)).rejects.toThrow(/allkeys-lru.*Set "maxmemory-policy noeviction"/);
      await sendToRedis(redis.port, "CONFIG SET maxmemory-policy noeviction");
      expect(await (await open(production)).store.ping()).toBe(true);
      await closeAll();
    } finally {
      await redis.stop();
    }
  },
);

/** Sends one command to a Redis and waits for its response. */
async function sendToRedis(port: number, command: string): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  const answer = new Promise<string>((resolve, reject) => {
    socket.once("data", (data) => resolve(data.toString()));
    socket.once("error", reject);
  });
  socket.end(`${command}\r\n`);
  expect(await answer).toMatch(/^\+OK/);
}

test("a folder that is to have an embedding model and lacks something keeps a process from starting", async () => {
  const config = configOf(database.url, { SVC_EMBEDDINGS_DIR: repositoryPath("docs") });
  await expect(open(config)).rejects.toThrow(
    /^SVC_EMBEDDINGS_DIR contains no valid model: .* lacks onnx\/model_quantized\.onnx .*tokenizer\.json.*See docs\/models\.md$/,
  );
});

test("a newer schema is no reason not to start, but is warned of", async () => {
  const newer = await createTestDatabase();
  try {
    await runSql(newer.url, "INSERT INTO schema_migrations (name, run_on) VALUES ('9999_future', now())");
    const { log, lines } = collectLog();
    opened.push(await openResources(configOf(newer.url), { app: "test", log }));
    expect(
      lines()
        .filter(({ level }) => level === "warn")
        .map(({ msg }) => msg),
    ).toEqual([expect.stringContaining("schema is newer")]);
    await closeAll();
  } finally {
    await newer.drop();
  }
});

const errorWith = (code: string) => Object.assign(new Error("planted"), { code });

describe("why PostgreSQL is not reached", () => {
  test.each([
    ["ECONNREFUSED", /no server is listening/, false],
    ["ENOTFOUND", /host name .* does not exist/, false],
    ["57P03", /is starting/, false],
    ["53100", /disk is full/, false],
    ["53300", /no free connections/, false],
    ["28P01", /Check the user, password and database/, true],
    ["SELF_SIGNED_CERT_IN_CHAIN", /not trusted/, true],
    ["XX000", /see the attached error/, false],
  ])("%s is told in words, and whether waiting helps", (code, words, isLasting) => {
    expect(explainStoreError(errorWith(code))).toEqual({ words: expect.stringMatching(words), isLasting });
  });

  test("a pooler that rejects settings is named, and waiting does not help", () => {
    const error = Object.assign(new Error("unsupported startup parameter: options"), { code: "08P01" });
    expect(explainStoreError(error)).toEqual({ words: expect.stringMatching(/connection pooler/), isLasting: true });
  });

  test("of several addresses of one host is told by the first", () => {
    const error = new AggregateError([errorWith("ECONNREFUSED"), errorWith("ENETUNREACH")]);
    expect(explainStoreError(error).words).toMatch(/no server is listening/);
  });
});

const HOUR_MS = 3_600_000;
const storeAt = (apartMs: number) => ({ readTimeMs: () => Promise.resolve(Date.now() - apartMs) });

describe("the clock of a process", () => {
  test.each([0, 20_000, -20_000])("%i ms from the database's clock is right", async (apartMs) => {
    expect(await findClockProblem(storeAt(apartMs))).toBeNull();
  });

  test("an hour off is told in words, either way", async () => {
    expect(await findClockProblem(storeAt(HOUR_MS))).toMatch(/60 minutes ahead of the database's clock.*NTP/);
    expect(await findClockProblem(storeAt(-HOUR_MS))).toMatch(/60 minutes behind the database's clock/);
  });
});
