import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "@svc/store";
import { findDataParent, freePort, startProcess, makeTemporaryFolder } from "./child-process.ts";
import { repositoryPath, testLog } from "./test-settings.ts";
import { waitFor } from "./wait-for.ts";

const ADMIN_KEY = "embedded-administrator-0123456789abcdef";
const SECRET_KEY = "embedded-secret-key-0123456789abcdefghij";

/** Options of a call of the API. */
interface CallOptions {
  /** The name of its project. Default: `default`. */
  project?: string;
  json?: unknown;
  headers?: Record<string, string>;
}

/** The product as run by `npm start`, with its own PostgreSQL. */
export interface EmbeddedProduct {
  readonly apiUrl: string;
  readonly widgetUrl: string;
  readonly toolsUrl: string;
  readonly consoleUrl: string;
  readonly adminKey: string;
  readonly databaseUrl: string;
  readonly pid: number;
  readonly postgresPid: number;
  /** Opens its store; the caller closes it. */
  openStore: () => Store;
  /** Calls the API as an administrator and returns the body of the response. Rejects on any status but 2xx. */
  call(method: string, path: string, options?: CallOptions): Promise<unknown>;
  stop: () => Promise<void>;
}

/**
 * Starts the product with its embedded PostgreSQL and waits until API and console are ready. Its data is in `folder`,
 * by default a temporary one; `env` has further settings.
 */
export async function startEmbeddedProduct(
  options: { folder?: string; env?: Record<string, string> } = {},
): Promise<EmbeddedProduct> {
  const { openStore } = await import("@svc/store");
  const temporary =
    options.folder === undefined ? await makeTemporaryFolder("product", { parent: await findDataParent() }) : undefined;
  const folder = options.folder ?? temporary?.path ?? "";
  const [api, widget, tools, console, metrics] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const child = await startProcess({
    name: "the embedded product",
    file: repositoryPath("apps/standalone/dist/main.js"),
    env: {
      SVC_DATA_DIR: folder,
      SVC_ADMIN_KEY: ADMIN_KEY,
      SVC_SECRET_KEY: SECRET_KEY,
      SVC_LOG_LEVEL: "warn",
      SVC_API_PORT: String(api),
      SVC_WIDGET_PORT: String(widget),
      SVC_TOOLS_PORT: String(tools),
      SVC_CONSOLE_PORT: String(console),
      SVC_METRICS_PORT: String(metrics),
      ...options.env,
    },
  });
  const urlOf = (port: number) => `http://127.0.0.1:${port}`;
  const apiUrl = urlOf(api);
  const stop = async () => {
    await child.kill();
    await temporary?.remove();
  };
  try {
    await child.ready(`${apiUrl}/api/v1/health`);
    await child.ready(`${urlOf(console)}/readyz`);
  } catch (error) {
    await stop();
    throw error;
  }
  const { databaseUrl, postgresPid } = await waitFor(() => readPostgres(folder), { what: "the embedded PostgreSQL" });
  return {
    apiUrl,
    widgetUrl: urlOf(widget),
    toolsUrl: urlOf(tools),
    consoleUrl: urlOf(console),
    adminKey: ADMIN_KEY,
    databaseUrl,
    pid: child.pid,
    postgresPid,
    openStore: () => openStore({ url: databaseUrl, secretKey: SECRET_KEY, log: testLog() }),
    async call(method, path, { project = "default", json, headers = {} } = {}) {
      const response = await fetch(`${apiUrl}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${ADMIN_KEY}`,
          "x-svc-project": project,
          ...(json === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text === "" ? null : (JSON.parse(text) as unknown);
    },
    stop,
  };
}

/** Returns where the embedded PostgreSQL of a data folder is. */
function readPostgres(folder: string) {
  const password = readFileSync(join(folder, "postgres-password"), "utf8").trim();
  const [pid, , , port] = readFileSync(join(folder, "postgres", "postmaster.pid"), "utf8").split("\n");
  return {
    databaseUrl: `postgres://svc:${encodeURIComponent(password)}@127.0.0.1:${port}/svc`,
    postgresPid: Number(pid),
  };
}
