// Loaded into every process of the product before its own code: a pipeline that has claimed a message with poison in it
// aborts in the moment in which it hands its text on to PostgreSQL.
import { basename, dirname } from "node:path";
import pg from "pg";
import { POISON } from "./poison-mark.ts";

const holds = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(holds) : typeof value === "string" && value.includes(POISON);

if (basename(dirname(dirname(process.argv[1] ?? ""))) === "pipeline") {
  const query = Reflect.get(pg.Client.prototype, "query") as (...args: unknown[]) => unknown;
  function abortOnPoison(this: unknown, ...args: unknown[]) {
    const [config, values] = args as [{ values?: unknown } | string, unknown];
    if (holds(values) || (typeof config === "object" && holds(config.values))) process.kill(process.pid, "SIGABRT");
    return query.apply(this, args);
  }
  Object.assign(pg.Client.prototype, { query: abortOnPoison });
}
