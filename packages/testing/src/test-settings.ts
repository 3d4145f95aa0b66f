import { fileURLToPath } from "node:url";
import { LOG_LEVELS, createLog } from "@svc/log";
import type { LogLevel, Log } from "@svc/log";

/** Returns the absolute path of a file in this repository; `dist` and `src` of this package have the same depth. */
export function repositoryPath(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}

export const QUEUE_BACKENDS = ["postgres", "redis"] as const;
/** Where BullMQ stores its jobs in this run. */
export type QueueBackend = (typeof QUEUE_BACKENDS)[number];

export const COMPOSITIONS = ["standalone", "separate"] as const;
/** Composition of the product in this run: one process, or processes for each app. */
export type CompositionName = (typeof COMPOSITIONS)[number];

/** Settings of this test run. */
export interface TestSettings {
  /** A Postgres to use instead of a new one; its user must be allowed to create databases. */
  databaseUrl: string | undefined;
  /** Program folder of an installed PostgreSQL to use instead of the bundled one. */
  postgresBinDir: string | undefined;
  /** A Redis to use if `redis-server` is not in the PATH. */
  redisUrl: string | undefined;
  queueBackend: QueueBackend;
  composition: CompositionName;
  logLevel: LogLevel;
  /** A Chromium to use instead of the one in the PATH. */
  chromium: string | undefined;
  /** Folder for screenshots of tests in a browser; absent if none were requested. */
  screenshotDir: string | undefined;
  /** URL for requesting this run's servers; set by jest's global setup. */
  runUrl: string | undefined;
  /** Number of this process among the workers of all jests that run, from 1; 0 outside of them. */
  worker: number;
}

/** Passes the URL of the run's servers from the global setup to jest's workers. */
export const RUN_URL_VARIABLE = "SVC_TEST_RUN_URL";

/**
 * Reads the settings of this test run: `TEST_DATABASE_URL`, `TEST_POSTGRES_BIN_DIR`, `REDIS_URL`, `TEST_QUEUE_BACKEND`
 * (default postgres), `TEST_COMPOSITION` (default standalone), `TEST_LOG` (default silent), `TEST_SCREENSHOTS`,
 * `TEST_WORKER` (default that of jest) and `SVC_CHROMIUM`. The only code of the tests that reads the environment. Throws on an invalid value.
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
    worker: Number(env["TEST_WORKER"] ?? env["JEST_WORKER_ID"] ?? 0),
  };
}

/** Returns the part of the test's environment that every child process needs; everything else is passed explicitly. */
export function childEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const kept = ["PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ"];
  return Object.fromEntries(kept.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

function oneOf<Value extends string>(name: string, value: string, allowed: readonly Value[]): Value {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw new Error(`${name} is "${value}"; set it to one of: ${allowed.join(", ")}.`);
  return found;
}

/** A line of a log. */
export interface LogLine {
  level: string;
  msg?: string;
  [field: string]: unknown;
}

/** Returns a log that writes nothing, or everything from the level of TEST_LOG. */
export function testLog(name = "test"): Log {
  return createLog({ level: readTestSettings().logLevel, name });
}

/** Creates a log whose lines a test can read; `lines()` returns all lines so far, from level `debug`. */
export function collectLog(): { log: Log; lines(): LogLine[] } {
  const written: string[] = [];
  const log = createLog({ level: "debug", destination: { write: (line) => void written.push(line) } });
  return { log, lines: () => written.map((line) => JSON.parse(line) as LogLine) };
}
