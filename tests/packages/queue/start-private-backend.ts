import { migrateQueues, openQueues } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { findRedisServer, readTestSettings, startPostgres, startRedis, testLog } from "@svc/testing";
import type { QueueBackend } from "@svc/testing";

/** A queue backend of one's own, of the kind that this run is about, which can be killed. */
export interface PrivateBackend {
  readonly port: number;
  /** Opens the queues on it, as another process would. Close them before the backend stops. */
  open(): Queues;
  /** SIGKILL; a Redis loses everything that it held. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Postgres is never asked by queues on Redis. */
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

/** Starts a Redis or a Postgres, as TEST_QUEUE_BACKEND says. */
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

/** False on a machine that has a Redis to use and none to start. */
export async function canStartPrivateBackend(): Promise<boolean> {
  return readTestSettings().queueBackend === "postgres" || (await findRedisServer()) !== null;
}
