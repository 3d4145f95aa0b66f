import { LOG_LEVELS } from "@svc/log";
import type { LogLevel } from "@svc/log";

export const QUEUE_BACKENDS = ["postgres", "redis"] as const;
/** Where BullMQ keeps its jobs in this run. */
export type QueueBackend = (typeof QUEUE_BACKENDS)[number];

export const COMPOSITIONS = ["standalone", "separate"] as const;
/** How the product is put together in this run: one process, or processes of each app. */
export type CompositionName = (typeof COMPOSITIONS)[number];

/** How the tests of this run were asked to run. */
export interface TestSettings {
  /** A Postgres to use instead of a new one; its user must be allowed to create databases. */
  databaseUrl: string | undefined;
  /** Folder of the programs of an installed PostgreSQL to start instead of the bundled one. */
  postgresBinDir: string | undefined;
  /** A Redis to use where no `redis-server` is in the PATH. */
  redisUrl: string | undefined;
  queueBackend: QueueBackend;
  composition: CompositionName;
  logLevel: LogLevel;
  /** A Chromium to use instead of the one in the PATH. */
  chromium: string | undefined;
  /** Folder for screenshots of tests in a browser; absent if none were requested. */
  screenshotDir: string | undefined;
  /** Where the servers of this run are asked for; set by jest's global setup. */
  runUrl: string | undefined;
}

/** Carries the address of the run's servers from the global setup to the workers that jest forks after it. */
export const RUN_URL_VARIABLE = "SVC_TEST_RUN_URL";

/**
 * Reads the settings of this test run: `TEST_DATABASE_URL`, `TEST_POSTGRES_BIN_DIR`, `REDIS_URL`, `TEST_QUEUE_BACKEND`
 * (default postgres), `TEST_COMPOSITION` (default standalone), `TEST_LOG` (default silent), `TEST_SCREENSHOTS`
 * and `SVC_CHROMIUM`. The only place of the tests that reads the environment. Throws on a value that
 * is not one of those allowed.
 */
export function readTestSettings(env: NodeJS.ProcessEnv = process.env): TestSettings {
  return {
    databaseUrl: env["TEST_DATABASE_URL"] || undefined,
    postgresBinDir: env["TEST_POSTGRES_BIN_DIR"] || undefined,
    redisUrl: env["REDIS_URL"] || undefined,
    queueBackend: oneOf("TEST_QUEUE_BACKEND", env["TEST_QUEUE_BACKEND"] || "postgres", QUEUE_BACKENDS),
    composition: oneOf("TEST_COMPOSITION", env["TEST_COMPOSITION"] || "standalone", COMPOSITIONS),
    logLevel: oneOf("TEST_LOG", env["TEST_LOG"] || "silent", LOG_LEVELS),
    chromium: env["SVC_CHROMIUM"] || undefined,
    screenshotDir: env["TEST_SCREENSHOTS"] || undefined,
    runUrl: env[RUN_URL_VARIABLE] || undefined,
  };
}

/** What every child process needs from the environment of the test; everything else it gets by name. */
export function childEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const kept = ["PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ"];
  return Object.fromEntries(kept.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

function oneOf<Value extends string>(name: string, value: string, allowed: readonly Value[]): Value {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw new Error(`${name} is "${value}"; set it to one of: ${allowed.join(", ")}.`);
  return found;
}
