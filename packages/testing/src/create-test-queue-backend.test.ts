import { expect, test } from "@jest/globals";
import { createTestQueueBackend } from "./create-test-queue-backend.ts";
import { findRedisServer } from "./find-programs.ts";
import { readTestSettings } from "./test-settings.ts";

const hasRedis = readTestSettings().redisUrl !== undefined || (await findRedisServer()) !== null;

test("on Postgres the queues are in the database of the test: there is no Redis, but a prefix", async () => {
  const backend = await createTestQueueBackend("postgres");
  expect(backend.redisUrl).toBeUndefined();
  expect(backend.prefix).toMatch(/^[a-z0-9-]+$/);
  await backend.stop();
});

(hasRedis ? test : test.skip)(
  "on Redis the test files of a run share a server, each with a prefix of its own",
  async () => {
    const backends = await Promise.all([createTestQueueBackend("redis"), createTestQueueBackend("redis")]);
    const [first, second] = backends;
    expect(first?.redisUrl).toMatch(/^rediss?:/);
    expect(second?.redisUrl).toBe(first?.redisUrl);
    expect(second?.prefix).not.toBe(first?.prefix);
    for (const backend of backends) await backend.stop();
  },
);
