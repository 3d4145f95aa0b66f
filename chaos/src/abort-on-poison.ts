// Loaded into every process of the product before its own code: a pipeline that has claimed a message with poison in it
// aborts in the moment in which it hands its text on to PostgreSQL.
import { basename, dirname } from "node:path";
import pg from "pg";
import { POISON } from "./poison-mark.ts";

const program = process.argv[1] ?? "";
if (basename(dirname(dirname(program))) === "pipeline") {
  const { query } = pg.Client.prototype;
  const holds = (value) =>
    Array.isArray(value) ? value.some(holds) : typeof value === "string" && value.includes(POISON);
  pg.Client.prototype.query = function abortOnPoison(config, values, callback) {
    if (holds(config?.values) || holds(values)) process.kill(process.pid, "SIGABRT");
    return query.call(this, config, values, callback);
  };
}
