import { createLog } from "@svc/log";
import type { Log } from "@svc/log";
import { readTestSettings } from "./test-settings.ts";

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
