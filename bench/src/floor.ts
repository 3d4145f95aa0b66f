// The comparison program: whatever folder holds api.mjs, worker.mjs and schema.sql and speaks the same HTTP API.
import { cpSync, existsSync, readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { freePort, queryDatabase, waitFor } from "@svc/testing";
import { start, stop } from "./processes.ts";

/** A comparison program in one variant. */
export interface Variant {
  name: string;
  /** Its environment: empty for the program's defaults. */
  settings: Record<string, string>;
}

interface FloorOptions extends Variant {
  folder: string;
  scratch: string;
  databaseUrl: string;
  redisPort: number;
  key: string;
}

/** Starts a copy of the program in `folder` under a name of its own. */
export async function startFloor({ name, settings, folder, scratch, databaseUrl, redisPort, key }: FloorOptions) {
  const copy = join(scratch, "floor");
  if (!existsSync(copy)) {
    cpSync(resolve(folder), copy, { recursive: true });
    execFileSync("chmod", ["-R", "u+w", copy]);
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--silent"], { cwd: copy, stdio: "inherit" });
  }
  await queryDatabase(databaseUrl, readFileSync(join(copy, "schema.sql"), "utf8"));
  const port = await freePort();
  const own = { PORT: String(port), REDIS_PORT: String(redisPort), PG_URL: databaseUrl, FLOOR_KEY: key };
  const env = { ...settings, ...own, PREFIX: `floor-${name}` };
  const api = start(["api.mjs"], { cwd: copy, env });
  const worker = start(["worker.mjs"], { cwd: copy, env });
  const url = `http://127.0.0.1:${port}`;
  await waitFor(async () => (await fetch(`${url}/api/v1/health`)).ok, { what: `the floor (${name})` });
  return {
    name: `floor (${name})`,
    url,
    groups: { api: api.pid, worker: worker.pid },
    async stop() {
      await Promise.all([stop(api), stop(worker)]);
    },
  };
}
