// The embedded product with its console and an administrator, for what is measured or shown of it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../prepare.mjs";
import { freePort, start, stop, until } from "./processes.mjs";

export const ADMIN_KEY = "bench-key-0123456789abcdef";
const SECRET_KEY = "bench-secret-key-0123456789abcdefghij";
const PASSWORD = "correct horse battery";

const quietLog = { info() {}, warn: console.error, error: console.error, debug() {}, fatal: console.error };

/** Where the embedded PostgreSQL of a data folder is. */
function databaseUrlOf(folder) {
  const password = readFileSync(join(folder, "postgres-password"), "utf8").trim();
  const pidFile = readFileSync(join(folder, "postgres", "postmaster.pid"), "utf8").split("\n");
  return `postgres://svc:${encodeURIComponent(password)}@127.0.0.1:${pidFile[3]}/svc`;
}

/**
 * Starts it in a folder of its own. `openStore` opens its store, to be closed; `addOperator` makes somebody who
 * administers everything, or has the roles that are given, and `signIn` answers their cookie.
 */
export async function startConsoleProduct(folder, env = {}) {
  const port = async () => String(await freePort());
  const ports = {
    SVC_API_PORT: await port(),
    SVC_WIDGET_PORT: await port(),
    SVC_TOOLS_PORT: await port(),
    SVC_CONSOLE_PORT: await port(),
    SVC_METRICS_PORT: await port(),
  };
  const child = start(process.execPath, [join(ROOT, "apps", "standalone", "dist", "main.js")], {
    env: {
      SVC_DATA_DIR: folder,
      SVC_ADMIN_KEY: ADMIN_KEY,
      SVC_SECRET_KEY: SECRET_KEY,
      SVC_LOG_LEVEL: "warn",
      ...ports,
      ...env,
    },
  });
  const api = `http://127.0.0.1:${ports.SVC_API_PORT}`;
  const url = `http://127.0.0.1:${ports.SVC_CONSOLE_PORT}`;
  await until("the product", async () => (await fetch(`${api}/api/v1/health`)).ok && (await fetch(`${url}/readyz`)).ok);
  const databaseUrl = databaseUrlOf(folder);
  const { openStore } = await import("../../packages/store/dist/index.js");
  const { hashPassword } = await import("../../packages/auth/dist/index.js");
  const open = () => openStore({ url: databaseUrl, secretKey: SECRET_KEY, log: quietLog, app: "svc-bench" });
  return {
    url,
    api,
    tools: `http://127.0.0.1:${ports.SVC_TOOLS_PORT}`,
    databaseUrl,
    pid: child.pid,
    openStore: open,
    async addOperator(store, { name, email, roles = [{ project: null, role: "administrator" }] }) {
      return store.operators.insert({ name, email, roles, passwordHash: await hashPassword(PASSWORD) });
    },
    async signIn(context, email) {
      const answer = await fetch(`${url}/session`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email, password: PASSWORD }),
      });
      const [, name, value] = /^(\w+)=([^;]+)/.exec(answer.headers.getSetCookie()[0] ?? "") ?? [];
      if (name === undefined) throw new Error(`nobody was signed in: ${await answer.text()}`);
      await context.addCookies([{ name, value, url, httpOnly: true, sameSite: "Strict" }]);
    },
    /** Calls the API as an administrator, for a project. */
    async call(method, path, { project = "default", json, headers = {} } = {}) {
      const answer = await fetch(`${api}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${ADMIN_KEY}`,
          "x-svc-project": project,
          ...(json === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      });
      const body = await answer.json().catch(() => null);
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(body)}`);
      return body;
    },
    stop: () => stop(child),
  };
}
