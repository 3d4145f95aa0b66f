// The comparison program: whatever folder holds api.mjs, worker.mjs and schema.sql and speaks the same HTTP API.
import { cpSync, existsSync, readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { freePort } from "@svc/testing";
import { start, stop, until } from "./processes.ts";
import { queryDatabase as query } from "@svc/testing";

/**
 * Starts a copy of the program in `folder` under a name of its own. `settings` is its environment: none is the program as
 * it is by default.
 */
export async function startFloor({ name, settings, folder, scratch, databaseUrl, redisPort, key }) {
  const copy = join(scratch, "floor");
  if (!existsSync(copy)) {
    cpSync(resolve(folder), copy, { recursive: true });
    execFileSync("chmod", ["-R", "u+w", copy]);
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--silent"], { cwd: copy, stdio: "inherit" });
  }
  await query(databaseUrl, readFileSync(join(copy, "schema.sql"), "utf8"));
  const port = await freePort();
  const own = { PORT: String(port), REDIS_PORT: String(redisPort), PG_URL: databaseUrl, FLOOR_KEY: key };
  const env = { ...settings, ...own, PREFIX: `floor-${name}` };
  const api = start(process.execPath, ["api.mjs"], { cwd: copy, env });
  const worker = start(process.execPath, ["worker.mjs"], { cwd: copy, env });
  const url = `http://127.0.0.1:${port}`;
  await until(`the floor (${name})`, async () => (await fetch(`${url}/api/v1/health`)).ok);
  return {
    name: `floor (${name})`,
    url,
    groups: { api: api.pid, worker: worker.pid },
    async stop() {
      await Promise.all([stop(api), stop(worker)]);
    },
  };
}
