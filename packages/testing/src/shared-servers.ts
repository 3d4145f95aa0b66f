import { randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { errorMessage } from "@svc/primitives";
import { createDatabase, dropDatabase, runAsAdmin, urlOfDatabase } from "./admin-database.ts";
import { findRedisServer } from "./find-programs.ts";
import { openForRun } from "./held-resources.ts";
import { repositoryPath, readTestSettings, testLog } from "./test-settings.ts";
import { startInstalledPostgres, startPostgres } from "./start-postgres.ts";
import { startRedis } from "./start-redis.ts";
import type { TestSettings } from "./test-settings.ts";

/** Migrates a database for the product: our own tables, and those of the queues. */
export async function migrateTestDatabase(url: string): Promise<void> {
  // Most test files only copy a migrated database, and need not load these.
  const [{ migrateStore }, { migrateQueues }] = await Promise.all([import("@svc/store"), import("@svc/queue")]);
  await migrateStore(url, testLog());
  await migrateQueues(url, testLog());
}

/** The Postgres of this run. */
export interface SharedPostgres {
  /** One of its databases, for CREATE DATABASE. */
  adminUrl: string;
  /** The migrated database that others are copied from. */
  template: string;
  /** Prefix of the name of every database of this run. */
  prefix: string;
}

/** The Redis of this run. It may contain other data: use your own prefix. */
export interface SharedRedis {
  url: string;
}

/** The programs of the apps, each as one file: `api.mjs`. */
export interface SharedPrograms {
  folder: string;
}

/** Servers that can be requested, by the last part of the URL. */
interface SharedServers {
  postgres: SharedPostgres;
  redis: SharedRedis;
  programs: SharedPrograms;
}

interface Opened<Server> {
  server: Server;
  close(): Promise<void>;
}

/**
 * Serves the servers that all test files of a run share, each started on its first request: a run of unit tests starts
 * none. Returns the URL for requests, which contains a secret because the responses include the database's password.
 */
export async function openSharedServers(
  settings: Pick<TestSettings, "databaseUrl" | "postgresBinDir" | "redisUrl">,
): Promise<{ url: string; close(): Promise<void> }> {
  const openers = {
    postgres: () => openPostgres(settings),
    redis: () => openRedis(settings.redisUrl),
    programs: makePrograms,
  } satisfies { [Name in keyof SharedServers]: () => Promise<Opened<SharedServers[Name]>> };
  const opened = new Map<string, Promise<Opened<object>>>();

  const token = randomUUID();
  const paths = new Map(Object.entries(openers).map(([name, open]) => [`/${token}/${name}`, open]));
  const broker = createServer((request, response) => {
    const path = request.url ?? "";
    const open = paths.get(path) ?? (() => Promise.reject(new Error("No such server is shared.")));
    const opening = opened.get(path) ?? openForRun(open);
    opened.set(path, opening);
    opening.then(
      ({ server }) => response.writeHead(200).end(JSON.stringify(server)),
      (error: unknown) => response.writeHead(500).end(errorMessage(error)),
    );
  });
  // An idle connection must not be closed at the moment a test sends a request on it.
  broker.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => {
    broker.listen(0, "127.0.0.1", resolve);
  });
  broker.unref();
  const { port } = broker.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}/${token}`,
    async close() {
      broker.close();
      broker.closeAllConnections();
      // Errors of servers that did not start were returned to the tests; there is nothing to close.
      const servers = await Promise.allSettled(opened.values());
      const running = servers.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      await Promise.all(running.map((server) => server.close()));
    },
  };
}

/** Bundles the apps from the current sources. The bundles are kept for the next run. */
async function makePrograms(): Promise<Opened<SharedPrograms>> {
  const script = (await import(repositoryPath("scripts/bundle-apps.mjs"))) as { bundleApps(): Promise<string> };
  return { server: { folder: await script.bundleApps() }, close: () => Promise.resolve() };
}

/** Restores PostgreSQL's defaults on the bundled server where our own settings differ, as far as it supports them. */
const USERS_SETTINGS = { jit: "on", max_parallel_workers: "8", io_method: "worker" };

async function startBundledPostgres() {
  const server = await startPostgres({ maxConnections: 400, settings: USERS_SETTINGS });
  const { username, password } = new URL(server.url);
  // Each connection costs both sides a password hash of 4,096 rounds, and tests open tens of thousands.
  const setPassword = `ALTER ROLE ${username} PASSWORD '${decodeURIComponent(password)}'`;
  await runAsAdmin(server.url, `SET scram_iterations = 1; ${setPassword}`);
  return server;
}

async function openPostgres({
  databaseUrl: givenUrl,
  postgresBinDir,
}: Pick<TestSettings, "databaseUrl" | "postgresBinDir">): Promise<Opened<SharedPostgres>> {
  const start = () => (postgresBinDir === undefined ? startBundledPostgres() : startInstalledPostgres(postgresBinDir));
  const own = givenUrl === undefined ? await start() : null;
  const adminUrl = givenUrl ?? own?.url ?? "";
  const prefix = `svc_test_${randomBytes(4).toString("hex")}_`;
  const template = `${prefix}template`;
  const close = own === null ? () => dropDatabasesOf(adminUrl, prefix) : () => own.stop();
  try {
    await createDatabase(adminUrl, template);
    await migrateTestDatabase(urlOfDatabase(adminUrl, template));
  } catch (error) {
    await close();
    throw error;
  }
  return { server: { adminUrl, template, prefix }, close };
}

/** Removes everything from a provided server, including the databases of failed test files. */
async function dropDatabasesOf(adminUrl: string, prefix: string): Promise<void> {
  const rows = await runAsAdmin(adminUrl, "SELECT datname FROM pg_database WHERE starts_with(datname, $1)", [prefix]);
  for (const { datname } of rows as { datname: string }[]) await dropDatabase(adminUrl, datname);
}

async function openRedis(givenUrl: string | undefined): Promise<Opened<SharedRedis>> {
  if (givenUrl !== undefined) return { server: { url: givenUrl }, close: () => Promise.resolve() };
  if ((await findRedisServer()) === null) {
    throw new Error("There is no Redis for these tests: install redis-server or set REDIS_URL.");
  }
  const own = await startRedis();
  return { server: { url: own.url }, close: () => own.stop() };
}

/** Returns a server that all test files of this run share; the first call starts it. */
export async function askSharedServer<Name extends keyof SharedServers>(name: Name): Promise<SharedServers[Name]> {
  const { runUrl } = readTestSettings();
  if (runUrl === undefined) {
    throw new Error("This test needs jest's global setup of the repository; run jest from the repository's root.");
  }
  const response = await fetch(`${runUrl}/${name}`);
  if (!response.ok) throw new Error(`The ${name} of this test run did not start: ${await response.text()}`);
  return (await response.json()) as SharedServers[Name];
}

/**
 * Returns the program of an app: in a test run one bundled file, which starts in half the time, otherwise its build.
 */
export async function findProgram(app: string): Promise<string> {
  if (readTestSettings().runUrl === undefined) return repositoryPath(`apps/${app}/dist/main.js`);
  const { folder } = await askSharedServer("programs");
  return join(folder, `${app}.mjs`);
}
