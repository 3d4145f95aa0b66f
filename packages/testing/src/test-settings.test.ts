import { expect, test } from "@jest/globals";
import { childEnvironment, readTestSettings } from "./test-settings.ts";

test("without settings a run uses the Postgres backend and the standalone composition, and is silent", () => {
  expect(readTestSettings({})).toEqual({
    databaseUrl: undefined,
    postgresBinDir: undefined,
    redisUrl: undefined,
    queueBackend: "postgres",
    composition: "standalone",
    logLevel: "silent",
    chromium: undefined,
    screenshotDir: undefined,
    runUrl: undefined,
    worker: 0,
  });
});

test("a run beside another one may number its worker, so that both choose from different ports", () => {
  expect(readTestSettings({ JEST_WORKER_ID: "1" }).worker).toBe(1);
  expect(readTestSettings({ JEST_WORKER_ID: "1", TEST_WORKER: "4" }).worker).toBe(4);
});

test("an unknown value is refused with those that are allowed", () => {
  expect(() => readTestSettings({ TEST_QUEUE_BACKEND: "memory" })).toThrow(/TEST_QUEUE_BACKEND .* postgres, redis/);
  expect(() => readTestSettings({ TEST_COMPOSITION: "all" })).toThrow(/TEST_COMPOSITION .* standalone, separate/);
});

test("a child process gets no setting of the product from the environment of the test", () => {
  const env = {
    PATH: "/bin",
    DATABASE_URL: "postgres://elsewhere",
    SVC_ADMIN_KEY: "secret",
    REDIS_URL: "redis://elsewhere",
  };
  expect(childEnvironment(env)).toEqual({ PATH: "/bin" });
});
