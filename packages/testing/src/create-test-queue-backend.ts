import { randomBytes } from "node:crypto";
import { askSharedServer } from "./shared-servers.ts";
import { holdResource } from "./held-resources.ts";
import { removeRedisKeys } from "./redis-keys.ts";
import { readTestSettings } from "./test-settings.ts";
import type { QueueBackend } from "./test-settings.ts";

/** Queue backend of a test file. */
export interface TestQueueBackend {
  /** The Redis of this run; absent if the queues are in the database. */
  readonly redisUrl?: string;
  /** Separates the jobs of test files on one Redis. */
  readonly prefix: string;
  /** Removes the test file's keys from Redis. Close the queues first. */
  stop(): Promise<void>;
}

type Opener = (prefix: string) => Promise<TestQueueBackend>;

const OPENERS = {
  postgres: async (prefix) => ({ prefix, stop: () => Promise.resolve() }),
  redis: async (prefix) => {
    const { url: redisUrl } = await askSharedServer("redis");
    const removeKeys = () => removeRedisKeys(redisUrl, prefix);
    const release = holdResource(`queues with prefix ${prefix}`, removeKeys);
    return {
      redisUrl,
      prefix,
      async stop() {
        await removeKeys();
        release();
      },
    };
  },
} satisfies Record<QueueBackend, Opener>;

/** Creates the queue backend that TEST_QUEUE_BACKEND names, with a unique prefix. Stop it in `afterAll`. */
export async function createTestQueueBackend(
  backend: QueueBackend = readTestSettings().queueBackend,
): Promise<TestQueueBackend> {
  return OPENERS[backend](`svc-test-${randomBytes(6).toString("hex")}`);
}
