// The servers of a benchmark, the products on them, and what is sent to them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { queryDatabase, startPostgres, startRedis } from "@svc/testing";
import type { LoadRequest } from "./load.ts";
import { measure } from "./measure.ts";
import type { Subject } from "./measure.ts";
import type { Groups } from "./processes.ts";
import { queuePrefixOf, startProduct } from "./product.ts";
import type { PrepareStore, Product, Replicas } from "./product.ts";

/** Options of a measurement. */
export interface BenchOptions {
  seconds: number;
  runs: number;
  warmUpSeconds: number;
  connections: readonly number[];
  messages: number;
  sizes: readonly number[];
  tickets: number;
  minutes: number;
  rate: number;
  rows: readonly number[];
  explains: boolean;
  profile: string | undefined;
}

interface ProductOfBench {
  prepareStore: PrepareStore;
  apps?: Replicas;
  /** Default: a new database. */
  databaseUrl?: string;
}

/** The servers and options of a run. */
export type Bench = Awaited<ReturnType<typeof startBench>>;

export const KEY = "bench-key-0123456789abcdef";
export const FIXED = "Thank you. We have received your message and will come back to you.";
export const MESSAGE = {
  text: "My invoice 2231 shows the wrong amount, can you check it please?",
  userId: "u-1",
  meta: { source: "bench" },
};
export const MESSAGES_PATH = "/api/v1/messages";
export const headersOf = (key: string) => ({ "content-type": "application/json", authorization: `Bearer ${key}` });
export const POST = { path: MESSAGES_PATH, headers: headersOf(KEY), body: JSON.stringify(MESSAGE) };

/** Returns an async message, for 64 connections. */
export const asyncPost = (fields: { chatId?: string } = {}): Omit<LoadRequest, "url"> => ({
  ...POST,
  connections: 64,
  body: JSON.stringify({ ...MESSAGE, mode: "async", ...fields }),
  expect: 202,
});

/** Starts PostgreSQL and Redis as in production. */
export async function startBench(options: BenchOptions) {
  const scratch = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const postgres = await startPostgres({ settings: { fsync: "on", full_page_writes: "on" } });
  const redis = await startRedis({ settings: { appendonly: "yes", appendfsync: "everysec" } });
  const servers: Groups = { redis: redis.pid, postgres: postgres.pid };
  const createDatabase = async (name: string) => {
    await queryDatabase(postgres.url, `CREATE DATABASE ${name}`);
    return postgres.url.replace(/\/svc$/, `/${name}`);
  };
  return {
    options,
    servers,
    scratch,
    redisPort: redis.port,
    createDatabase,
    measureAll: (subjects: readonly Subject[]) => measure(subjects, options),
    /** Starts a product on its own database and passes it to `work`. */
    withProduct: async <Result>(
      name: string,
      { prepareStore, apps = { api: 1, pipeline: 1 }, databaseUrl }: ProductOfBench,
      work: (product: Product) => Promise<Result>,
    ) => {
      const product = await startProduct({
        databaseUrl: databaseUrl ?? (await createDatabase(name)),
        redisUrl: redis.url,
        queuePrefix: queuePrefixOf(name),
        key: KEY,
        prepareStore,
        apps,
        ...(options.profile === undefined ? {} : { profileDir: resolve(options.profile, name) }),
      });
      try {
        return await work(product);
      } finally {
        await product.stop();
      }
    },
    close: async () => {
      await redis.stop();
      await postgres.stop();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

/** Adds an agent with a fixed reply. */
export const answerFixed: PrepareStore = (store, project) =>
  store.agents.insert(project.id, { name: "fixed", fixedReply: FIXED, reviewPolicy: "auto" });
