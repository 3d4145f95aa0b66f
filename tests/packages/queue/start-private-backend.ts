import { migrateQueues, openQueues } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { findRedisServer, readTestSettings, startPostgres, startRedis, testLog } from "@svc/testing";
import type { QueueBackend } from "@svc/testing";

/** A separate queue backend of the kind that this run tests, which can be killed. */
export interface PrivateBackend {
  readonly port: number;
  /** Opens queues on it, like another process. Close them before the backend stops. */
  open(): Queues;
  /** SIGKILL; a Redis loses all its data. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Queues on Redis never connect to Postgres. */
export const NO_DATABASE = "postgres://nobody@127.0.0.1:1/none";

const STARTERS = {
  postgres: async () => {
    const server = await startPostgres();
    await migrateQueues(server.url, testLog());
    return { server, databaseUrl: server.url, redisUrl: undefined };
  },
  redis: async () => {
    const server = await startRedis();
    return { server, databaseUrl: NO_DATABASE, redisUrl: server.url };
  },
} satisfies Record<QueueBackend, () => Promise<object>>;

/** Starts a Redis or a Postgres, according to TEST_QUEUE_BACKEND. */
export async function startPrivateBackend(): Promise<PrivateBackend> {
  const { server, databaseUrl, redisUrl } = await STARTERS[readTestSettings().queueBackend]();
  return {
    port: server.port,
    open: () => openQueues({ databaseUrl, redisUrl, log: testLog() }),
    kill: () => server.kill("SIGKILL"),
    start: () => server.start(),
    stop: () => server.stop(),
  };
}

/** Returns false on a machine that has a Redis to connect to but none to start. */
export async function canStartPrivateBackend(): Promise<boolean> {
  return readTestSettings().queueBackend === "postgres" || (await findRedisServer()) !== null;
}
