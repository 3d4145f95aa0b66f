// Loaded into every process of the product before its own code: a pipeline that has claimed a message with poison in it
// aborts as soon as it works on it. That is when the claim that also opens the ticket returns it, or when its text is
// passed on to PostgreSQL. A claim after an expired lease returns it too, but may only give it up.
import { basename, dirname } from "node:path";
import pg from "pg";
import { POISON } from "./poison-mark.ts";

const OPENING_CLAIM = "messages.claim";

const holds = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(holds) : typeof value === "string" && value.includes(POISON);

if (basename(dirname(dirname(process.argv[1] ?? ""))) === "pipeline") {
  const query = Reflect.get(pg.Client.prototype, "query") as (...args: unknown[]) => unknown;
  const abortIf = (value: unknown): void => {
    if (holds(value)) process.kill(process.pid, "SIGABRT");
  };
  function abortOnPoison(this: unknown, ...args: unknown[]) {
    const { name, values = args[1] } = Object(args[0]) as { name?: string; values?: unknown };
    abortIf(values);
    const callback = args.at(-1);
    if (name !== OPENING_CLAIM || typeof callback !== "function") return query.apply(this, args);
    const call = callback as (error: unknown, result?: { rows?: unknown }) => void;
    const watched: typeof call = (error, result) => {
      abortIf(result?.rows);
      call(error, result);
    };
    return query.apply(this, [...args.slice(0, -1), watched]);
  }
  Object.assign(pg.Client.prototype, { query: abortOnPoison });
}
