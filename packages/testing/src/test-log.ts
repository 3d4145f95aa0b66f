import { createLog } from "@svc/log";
import type { Log } from "@svc/log";
import { readTestSettings } from "./test-settings.ts";

/** One line of a log as it was written. */
export interface LogLine {
  level: string;
  msg?: string;
  [field: string]: unknown;
}

/** A log that says nothing, or all from the level that TEST_LOG names. */
export function testLog(name = "test"): Log {
  return createLog({ level: readTestSettings().logLevel, name });
}

/** A log whose lines a test can look at; `lines()` answers all that were written so far, `debug` and up. */
export function collectLog(): { log: Log; lines(): LogLine[] } {
  const written: string[] = [];
  const log = createLog({ level: "debug", destination: { write: (line) => void written.push(line) } });
  return { log, lines: () => written.map((line) => JSON.parse(line) as LogLine) };
}
