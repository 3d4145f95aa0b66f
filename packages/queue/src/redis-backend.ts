import { randomUUID } from "node:crypto";
import type { QueueName } from "@svc/contracts";
import type { Log } from "@svc/log";
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { RateLimiterRedis } from "rate-limiter-flexible";
import {
  createListeners,
  createWakeUpBatch,
  isConnectionError,
  QUEUE_OPTIONS,
  QueueDownError,
  WORKER_OPTIONS,
} from "./backend.ts";
import type { QueueBackend } from "./backend.ts";
import { connectRedis, parseRedisUrl, readInfo } from "./redis-servers.ts";

const RETRY_MAX_MS = 1_000;
const COMMAND_TIMEOUT_MS = 5_000;
/**
 * A connection on which a command receives nothing for this time is considered half-open and is reconnected, since a
 * firewall may drop connections silently.
 */
const SILENCE_MS = 4_000;
/** Interval of pings on idle connections, which have dropped unnoticed for at most this time and `SILENCE_MS`. */
const PING_MS = 5_000;
const WAIT_FOR_JOB_S = 4;
/** As `SILENCE_MS`, for connections on which workers wait for a job: longer than they wait, when silence is expected. */
const WORKER_SILENCE_MS = 6_000;
/**
 * Connecting is aborted if it has received nothing and an attempt that began at least this much later has succeeded:
 * the first SYN was lost, and it would wait for `SILENCE_MS`. A slow connection has received something by then.
 */
const OVERTAKEN_MS = 1_000;
/** Interval and timeout of the probes that run while connections are being established. */
const PROBE_MS = 1_000;
const PROBE_WITHIN_MS = 2_000;
const MAX_PROBES = 2;
const MESSAGE_LIMITS = { maxIds: 500, maxChars: 100_000 };
/** Queues that receive many messages at once. */
const BUSY_QUEUES: ReadonlySet<QueueName> = new Set<QueueName>(["incoming-messages"]);
/**
 * BullMQ workers behind one consumer of a busy queue; an idle one costs several commands a minute. A worker fetches
 * jobs one by one, so that the last job of a burst of 28 waited 14 ms; with four, throughput at 64 connections was a
 * fifth higher.
 */
const FETCHERS = 4;
const TOPIC_SEPARATOR = "/wake/";

/**
 * Makes a client send the commands of one turn of the event loop by one system call, such as those that complete the jobs
 * whose messages were finished in one statement: at 64 sync calls, that halves the writes of the pipeline.
 */
function joinWrites(client: Redis): void {
  const sendCommand = client.sendCommand.bind(client);
  client.sendCommand = (command, stream) => {
    const { stream: socket } = client;
    if (socket?.writableCorked === 0) {
      socket.cork();
      process.nextTick(() => socket.uncork());
    }
    return sendCommand(command, stream);
  };
}

/** BullMQ on Redis or Valkey. During an outage, commands fail at once instead of piling up. */
// oxlint-disable-next-line max-lines-per-function -- One backend whose functions share its connections.
export function createRedisBackend(options: { redisUrl: string; prefix: string; log: Log }): QueueBackend {
  const { prefix, log } = options;
  const servers = parseRedisUrl(options.redisUrl);
  const shared = {
    retryStrategy: (times: number) => Math.min(times * 50, RETRY_MAX_MS),
    keepAlive: 10_000,
    connectTimeout: 4_000,
    socketTimeout: SILENCE_MS,
  };
  const waiting = { ...shared, socketTimeout: WORKER_SILENCE_MS };
  const producer = connectRedis(servers, {
    ...shared,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
  });
  const consumer = connectRedis(servers, { ...waiting, maxRetriesPerRequest: null });
  // It is subscribed below: ioredis would leave the error of a connection that drops meanwhile to nobody.
  const subscriber = connectRedis(servers, { ...shared, maxRetriesPerRequest: null, autoResubscribe: false });
  /** In a cluster, all keys of a script must be in one slot, which the part of their names in braces selects. */
  const prefixOf = (name: QueueName) => (servers.kind === "cluster" ? `{${prefix}/${name}}` : prefix);

  /** Connection attempts and when they began, by the clock of this process. */
  const attempts = new Map<Redis, number>();
  const probes = new Set<Redis>();
  /**
   * Aborts attempts that have received nothing although a later one, begun at `since`, has succeeded; they reconnect at
   * once.
   */
  const endOvertaken = (since: number) => {
    for (const [{ stream }, begun] of attempts) {
      // A TLS socket does not count the bytes of its handshake, so that its attempt may only be slow.
      if (since - begun > OVERTAKEN_MS && stream?.bytesRead === 0 && !("encrypted" in stream)) stream.destroy();
    }
  };
  const watchAttempts = (client: Redis): Redis =>
    client
      .on("connecting", () => attempts.set(client, performance.now()))
      .on("close", () => attempts.delete(client))
      .on("ready", () => {
        const since = attempts.get(client);
        attempts.delete(client);
        if (since !== undefined) endOvertaken(since);
      });
  // A cluster has several connections, which ioredis monitors.
  for (const client of [producer, consumer, subscriber]) if (client instanceof Redis) watchAttempts(client);
  for (const client of [producer, consumer]) if (client instanceof Redis) joinWrites(client);
  if (consumer instanceof Redis) {
    // Each worker waits for its jobs on a connection that BullMQ duplicates from this one.
    const duplicate = consumer.duplicate.bind(consumer);
    consumer.duplicate = (override) => watchAttempts(duplicate(override));
  }

  /** Connects to find out whether the pending attempts have hung. */
  async function probe(): Promise<void> {
    if (!(producer instanceof Redis)) return;
    const client = producer.duplicate({
      lazyConnect: true,
      retryStrategy: () => null,
      connectTimeout: PROBE_WITHIN_MS,
      socketTimeout: PROBE_WITHIN_MS,
    });
    const report = (error: unknown) => log.debug({ error }, "Redis does not respond to a further connection");
    client.on("error", report);
    probes.add(client);
    const since = performance.now();
    try {
      await client.connect();
      endOvertaken(since);
    } catch (error) {
      report(error);
    } finally {
      probes.delete(client);
      client.disconnect();
    }
  }

  // During an outage, every consumer adds a listener, which is not a leak. BullMQ adds to this number, so it cannot be 0.
  producer.setMaxListeners(100);

  let reported = false;
  let closed = false;
  const reportError = (error: Error) => {
    if (reported || closed) return;
    reported = true;
    log.warn({ error }, "Redis unavailable; messages are accepted and processed later");
  };
  for (const client of [producer, consumer, subscriber]) client.on("error", reportError);
  /** The policy problem that was reported last; undefined before the first check. */
  let reportedPolicy: string | null | undefined;
  async function readPolicyProblem(): Promise<string | null> {
    const info = await readInfo(producer, "memory");
    const policies = [...info.matchAll(/maxmemory_policy:(\S+)/g)].map(([, name]) => name);
    const policy = policies.find((name) => name !== "noeviction");
    return policy === undefined
      ? null
      : `Redis has maxmemory-policy ${policy} and may drop jobs under memory pressure. Set "maxmemory-policy noeviction".`;
  }
  producer.on("ready", () => {
    if (reported) log.info({}, "Redis available again");
    reported = false;
    // The server may have restarted with other settings.
    if (reportedPolicy === undefined) return;
    readPolicyProblem().then((error) => {
      if (error !== null && error !== reportedPolicy) log.error({}, error);
      reportedPolicy = error;
    }, reportError);
  });

  const pingChannel = `${prefix}${TOPIC_SEPARATOR}ping-${randomUUID()}`;
  let heardAt = 0;
  /** Sends a message from the producer to the subscriber: one command that checks both connections. */
  function pingBoth(receiver: Redis): void {
    const sentAt = performance.now();
    const { stream } = receiver;
    producer.publish(pingChannel, "").catch(reportError);
    // ioredis watches the producer's connection itself. If only that is broken, the subscriber reconnects needlessly; to wait
    // for the producer first would take twice as long if both are.
    setTimeout(() => {
      if (heardAt < sentAt) stream.destroy(new Error(`No message within ${SILENCE_MS} ms.`));
    }, SILENCE_MS).unref();
  }
  const pinger = setInterval(() => {
    const ready = [producer, subscriber].filter(({ status }) => status === "ready");
    if (ready.length > 1 && subscriber instanceof Redis) pingBoth(subscriber);
    // If the ping fails, the connection is reconnected and the error is reported.
    else for (const client of ready) client.ping().catch(reportError);
  }, PING_MS);
  pinger.unref();
  const prober = setInterval(() => {
    const isWaiting = [...attempts.values()].some((begun) => performance.now() - begun > PROBE_MS);
    if (isWaiting && probes.size < MAX_PROBES) void probe();
  }, PROBE_MS);
  prober.unref();

  const listeners = createListeners();
  subscriber.on("message", (channel: string, payload: string) => {
    if (channel === pingChannel) {
      heardAt = performance.now();
      return;
    }
    const topic = channel.slice(prefix.length + TOPIC_SEPARATOR.length);
    listeners.call(topic, payload.split(" "));
  });
  const subscribed = new Set([pingChannel]);
  const subscribe = (channels: readonly string[]) => {
    subscriber.subscribe(...channels).catch(reportError);
  };
  subscriber.on("ready", () => subscribe([...subscribed]));

  const sendBatch = createWakeUpBatch((topic, ids) => {
    producer.publish(prefix + TOPIC_SEPARATOR + topic, ids.join(" ")).catch(reportError);
  }, MESSAGE_LIMITS);

  const listenTo = (emitter: { on(event: "error", listener: (error: Error) => void): unknown }) =>
    emitter.on("error", (error) => {
      if (isConnectionError(error)) reportError(error);
      else log.warn({ error }, "queue error");
    });

  return {
    name: "redis",
    bulkFrom: 2,
    defaultConcurrency: 100,
    isUp: () => producer.status === "ready",

    async whenReachable() {
      while (producer.status !== "ready") {
        if (closed) throw new QueueDownError("queues were closed");
        await new Promise<void>((resolve) => {
          const done = () => {
            clearTimeout(timer);
            producer.off("ready", done);
            resolve();
          };
          const timer = setTimeout(done, RETRY_MAX_MS);
          producer.on("ready", done);
        });
      }
    },

    makeQueue(name) {
      const queue = new Queue(name, { connection: producer, prefix: prefixOf(name), ...QUEUE_OPTIONS });
      listenTo(queue);
      return queue;
    },

    makeWorker(name, processor, concurrency) {
      const count = BUSY_QUEUES.has(name) ? Math.min(FETCHERS, concurrency) : 1;
      const workers = Array.from({ length: count }, () => {
        const worker = new Worker(name, processor, {
          connection: consumer,
          prefix: prefixOf(name),
          concurrency: Math.floor(concurrency / count),
          drainDelay: WAIT_FOR_JOB_S,
          ...WORKER_OPTIONS,
        });
        listenTo(worker);
        return worker;
      });
      return {
        get concurrency() {
          return workers.reduce((sum, worker) => sum + worker.concurrency, 0);
        },
        set concurrency(most) {
          for (const worker of workers) worker.concurrency = Math.max(1, Math.floor(most / count));
        },
        cancelAllJobs(reason) {
          for (const worker of workers) worker.cancelAllJobs(reason);
        },
        waitUntilReady: () => Promise.all(workers.map((worker) => worker.waitUntilReady())),
        // The check covers the queue.
        checkStalled: async () => workers[0]?.getBackend().moveStalledJobsToWait(),
        async pause(doNotWaitActive) {
          await Promise.all(workers.map((worker) => worker.pause(doNotWaitActive)));
        },
        async close(force) {
          await Promise.all(workers.map((worker) => worker.close(force)));
        },
      };
    },

    wakeUps: {
      maxIdChars: MESSAGE_LIMITS.maxChars - 1,
      send: sendBatch,
      listen(topic, check) {
        const channel = prefix + TOPIC_SEPARATOR + topic;
        if (!subscribed.has(channel)) {
          subscribed.add(channel);
          if (subscriber.status === "ready") subscribe([channel]);
        }
        return listeners.add(topic, check);
      },
    },

    // Each count is one script and one round trip.
    makeLimiter: (limiter) => new RateLimiterRedis({ ...limiter, storeClient: producer }),

    async findPolicyProblem() {
      reportedPolicy = await readPolicyProblem();
      return reportedPolicy;
    },

    async close() {
      closed = true;
      clearInterval(pinger);
      clearInterval(prober);
      for (const client of [producer, consumer, subscriber, ...probes]) client.disconnect();
      await Promise.resolve();
    },
  };
}
