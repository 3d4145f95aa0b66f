// The product as separate processes on servers of its own, which can be broken.
import { initialize } from "@svc/operations";
import { openStore } from "@svc/store";
import {
  migrateTestDatabase,
  randomFrom,
  repositoryPath,
  startComposition,
  startPostgres,
  startRedis,
  startSilencingProxy,
  startWebhookReceiver,
  waitFor as waitUntil,
} from "@svc/testing";
import { queryDatabase as query } from "@svc/testing";

const ADMIN_KEY = "chaos-administrator-5d0c7b1e";
const SECRET_KEY = "chaos-secret-key-of-48-characters-0123456789abcd";
/** The widget's key. */
export const WIDGET_KEY = "wk_chaos-0123456789";
const FIXED = "This is always the answer.";
const ANY_NUMBER = 100_000;
const quietLog = { info() {}, warn() {}, error: console.error, debug() {}, fatal: console.error };

/** Waits until a check answers something truthy; what it throws counts as not yet. */
export async function waitFor(check, what, timeoutMs = 120_000) {
  return waitUntil(check, { what, timeoutMs });
}

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Random numbers that a seed repeats. */
export async function randomOf(seed) {
  return randomFrom(seed);
}

/** A server that callbacks are sent to. */
export async function startReceiver(options) {
  return startWebhookReceiver(options);
}

/**
 * Starts PostgreSQL, which writes to the disk as in production, a Redis that keeps nothing, and two processes of each
 * app that is asked for. One agent answers everything with the same text; nothing has a rate limit. With `silenceable`
 * the processes reach their servers through lines that can go silent.
 */
export async function startGround({ apps = [], replicas = 2, env = {}, silenceable = false } = {}) {
  const ends = [];
  const stop = async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  try {
    const postgres = await startPostgres({ maxConnections: 300, settings: { fsync: "on", full_page_writes: "on" } });
    ends.push(() => postgres.stop());
    const redis = await startRedis();
    ends.push(() => redis.stop());
    await migrateTestDatabase(postgres.url);
    const store = openStore({ url: postgres.url, secretKey: SECRET_KEY, log: quietLog, app: "svc-chaos" });
    try {
      const guideDir = repositoryPath("docs/guide");
      await initialize({ store, log: quietLog }, { configuredAdminKey: ADMIN_KEY, guideDir, showsKey: true });
      const { project } = await store.projects.ensure("default");
      await query(postgres.url, "UPDATE api_keys SET rate_limit = 0");
      await query(postgres.url, "UPDATE agents SET enabled = false");
      await store.agents.insert(project.id, { name: "chaos", fixedReply: FIXED, reviewPolicy: "auto" });
      const widget = {
        apiKey: WIDGET_KEY,
        allowedOrigins: [],
        messagesPerMinute: ANY_NUMBER,
        socketsPerMinute: ANY_NUMBER,
      };
      if (apps.includes("widget")) await store.channelsConfig.update("widget", widget, { enabled: true });
    } finally {
      await store.close();
    }
    const lines = [];
    const lineTo = async (url) => {
      if (!silenceable) return url;
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
    const listens = async (url) => (await fetch(`${url}/api/widget/config/${WIDGET_KEY}`)).ok;
    for (const url of composition.widgetUrls)
      await waitFor(() => listens(url), "the widget to be switched on", 300_000);
    return { postgres, redis, lines, composition, key: ADMIN_KEY, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The processes of an app. */
export const processesOf = ({ composition }, app) => composition.processes.filter(({ name }) => name.startsWith(app));

/** Rows of the product's database. */
export const rowsOf = ({ postgres }, sql, params) => query(postgres.url, sql, params);
