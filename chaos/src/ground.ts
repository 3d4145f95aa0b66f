// The product as separate processes on servers of its own, which can be broken.
import { createLog } from "@svc/log";
import { initialize } from "@svc/operations";
import { openStore } from "@svc/store";
import {
  migrateTestDatabase,
  queryDatabase,
  repositoryPath,
  startComposition,
  startPostgres,
  startRedis,
  startSilencingProxy,
  waitFor as waitUntil,
} from "@svc/testing";
import type { FurtherApp, SilencingProxy } from "@svc/testing";
import type { Ledger } from "./ledger.ts";

const ADMIN_KEY = "chaos-administrator-5d0c7b1e";
const SECRET_KEY = "chaos-secret-key-of-48-characters-0123456789abcd";
/** The widget's key. */
export const WIDGET_KEY = "wk_chaos-0123456789";
const FIXED = "This is always the answer.";
const ANY_NUMBER = 100_000;

/** What of the product runs, and how. */
interface GroundOptions {
  /** Runs beside API and pipeline. */
  apps?: readonly FurtherApp[];
  /** Processes of each app. Default: 2. */
  replicas?: number;
  env?: Record<string, string>;
  /** The connections of the processes to their servers can become half-open. */
  isSilenceable?: boolean;
}

/** The running product and its servers. */
export type Ground = Awaited<ReturnType<typeof startGround>>;

/** Waits until a check returns something truthy; an error counts as not yet. */
export const waitFor = <Found>(check: () => Found | Promise<Found>, what: string, timeoutMs = 120_000) =>
  waitUntil(check, { what, timeoutMs });

export const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/**
 * Starts PostgreSQL, which writes to the disk as in production, a Redis that keeps nothing, and two processes of each
 * app. One agent answers everything with the same text; nothing has a rate limit.
 */
export async function startGround({ apps = [], replicas = 2, env = {}, isSilenceable = false }: GroundOptions = {}) {
  const ends: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  try {
    const postgres = await startPostgres({ maxConnections: 300, settings: { fsync: "on", full_page_writes: "on" } });
    ends.push(() => postgres.stop());
    const redis = await startRedis();
    ends.push(() => redis.stop());
    await setUp(postgres.url, apps.includes("widget"));
    const lines: SilencingProxy[] = [];
    const lineTo = async (url: string) => {
      if (!isSilenceable) return url;
      const line = await startSilencingProxy(url);
      ends.push(() => line.close());
      lines.push(line);
      return line.url;
    };
    const composition = await startComposition({
      databaseUrl: await lineTo(postgres.url),
      redisUrl: await lineTo(redis.url),
      composition: "separate",
      replicas,
      apps,
      env: {
        SVC_ADMIN_KEY: ADMIN_KEY,
        SVC_SECRET_KEY: SECRET_KEY,
        SVC_LOG_LEVEL: "warn",
        // Visitors say which address they have: from one, the widget takes 20 MB of text a day, or 10,000 messages.
        SVC_TRUST_PROXY: "127.0.0.1",
        ...env,
      },
    });
    ends.push(() => composition.stop());
    const listens = async (url: string) => (await fetch(`${url}/api/widget/config/${WIDGET_KEY}`)).ok;
    for (const url of composition.widgetUrls) await waitFor(() => listens(url), "the widget to be enabled", 300_000);
    return { postgres, redis, lines, composition, key: ADMIN_KEY, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Creates the database, an administrator's key, the agent and, where it is asked for, the widget's channel. */
async function setUp(databaseUrl: string, hasWidget: boolean) {
  await migrateTestDatabase(databaseUrl);
  const log = createLog({ level: "error", name: "chaos" });
  const store = openStore({ url: databaseUrl, secretKey: SECRET_KEY, log, app: "svc-chaos" });
  try {
    const guideDir = repositoryPath("docs/guide");
    await initialize({ store, log }, { configuredAdminKey: ADMIN_KEY, guideDir, showsKey: true });
    const { project } = await store.projects.ensure("default");
    await queryDatabase(databaseUrl, "UPDATE api_keys SET rate_limit = 0");
    await queryDatabase(databaseUrl, "UPDATE agents SET enabled = false");
    await store.agents.insert(project.id, { name: "chaos", fixedReply: FIXED, reviewPolicy: "auto" });
    if (!hasWidget) return;
    const limits = { messagesPerMinute: ANY_NUMBER, socketsPerMinute: ANY_NUMBER };
    const config = { apiKey: WIDGET_KEY, allowedOrigins: [], ...limits };
    await store.channelsConfig.update("widget", config, { enabled: true });
  } finally {
    await store.close();
  }
}

/** Returns the processes of an app. */
export const processesOf = ({ composition }: Pick<Ground, "composition">, app: string) =>
  composition.processes.filter(({ name }) => name.startsWith(app));

/** Returns rows of the product's database. */
export const rowsOf = <Row extends Record<string, unknown>>({ postgres }: Ground, sql: string, params?: unknown[]) =>
  queryDatabase<Row>(postgres.url, sql, params);

/** Returns the number that a statement counts, in its column `count`. */
export async function countOf(ground: Ground, sql: string): Promise<number> {
  const [row] = await rowsOf<{ count: number | string }>(ground, sql);
  return Number(row?.count);
}

/** Counts the messages without an end. */
export const RECEIVED = "SELECT count(*) AS count FROM messages WHERE state = 'received'";

/** What a scenario works with. */
export interface Chaos {
  ground: Ground;
  ledger: Ledger;
  /** Chooses victims and texts. */
  seed: number;
  /** Prints a line about the progress. */
  say: (line: string) => void;
}

/** What came of a scenario. */
export interface Outcome {
  figures: Record<string, number | string>;
  /** Broken promises, in words. */
  breaches: string[];
}

/** How much of something a scenario does, by name. */
export type Size<Name extends string = string> = Record<Name, number>;

/** What is promised, how much of it is done in full and in a quick run, on which product, and what does it. */
export interface Scenario<Name extends string = string> {
  promise: string;
  sizes: { full: Size<Name>; quick: Size<Name> };
  ground?: GroundOptions;
  run(chaos: Chaos, size: Size<Name>): Promise<Outcome>;
}
