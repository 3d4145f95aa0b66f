import type { PostgresLogger } from "./logger.ts";

const LEVEL_METHODS: Readonly<Record<string, keyof PostgresLogger>> = {
  WARNING: "warn",
  ERROR: "warn",
  FATAL: "warn",
  PANIC: "error",
};
/** A line that comes again within this time of its last mention is counted instead of said. */
const QUIET_MS = 10_000;
/** So many different lines are remembered; Postgres has few that it repeats. */
const MAX_REMEMBERED = 100;

/**
 * Hands lines of Postgres to a log. Postgres writes "LEVEL:  text"; lines that go on from the one before have a level of
 * their own (DETAIL, HINT). On a full disk each connection that fails says the same, many times a second: a line that is
 * repeated is said once in ten seconds, with `repeated`, how often it came in between. `now` answers milliseconds.
 */
export function createLineForwarder(log: PostgresLogger, now: () => number): (line: string) => void {
  const said = new Map<string, { at: number; unsaid: number }>();

  return (line) => {
    const [, level = "LOG", text = line] = /^([A-Z]+): {2}(.*)$/.exec(line) ?? [];
    const last = said.get(line);
    if (last !== undefined && now() - last.at < QUIET_MS) {
      last.unsaid++;
      return;
    }
    said.delete(line);
    said.set(line, { at: now(), unsaid: 0 });
    const [oldest] = said.keys();
    if (said.size > MAX_REMEMBERED && oldest !== undefined) said.delete(oldest);
    const repeated = last === undefined || last.unsaid === 0 ? {} : { repeated: last.unsaid };
    log[LEVEL_METHODS[level] ?? "info"]({ component: "postgres", severity: level, ...repeated }, text);
  };
}
