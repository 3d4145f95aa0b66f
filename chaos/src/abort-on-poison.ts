// Loaded into every process of the product before its own code: a pipeline that claims a message with poison in it aborts
// in the moment in which PostgreSQL returns it.
import { basename, dirname } from "node:path";
import pg from "pg";
import { POISON } from "./poison-mark.ts";

const holds = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(holds) : typeof value === "string" && value.includes(POISON);

if (basename(dirname(dirname(process.argv[1] ?? ""))) === "pipeline") {
  const query = Reflect.get(pg.Client.prototype, "query") as (...args: unknown[]) => unknown;
  const abortIfPoison = (result: { rows?: unknown } | undefined): void => {
    if (holds(result?.rows)) process.kill(process.pid, "SIGABRT");
  };
  function abortOnPoison(this: unknown, ...args: unknown[]) {
    const { name = "" } = Object(args[0]) as { name?: string };
    if (!name.startsWith("messages.claim")) return query.apply(this, args);
    // A pool passes a callback; a client alone returns a promise.
    const callback = args.at(-1);
    if (typeof callback === "function") {
      const call = callback as (error: unknown, result?: { rows?: unknown }) => void;
      const watched: typeof call = (error, result) => {
        abortIfPoison(result);
        call(error, result);
      };
      return query.apply(this, [...args.slice(0, -1), watched]);
    }
    const answer = query.apply(this, args) as Promise<{ rows?: unknown }>;
    answer.then(abortIfPoison, () => undefined);
    return answer;
  }
  Object.assign(pg.Client.prototype, { query: abortOnPoison });
}
