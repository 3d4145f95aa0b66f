// Finds what prevents `npm start`, before anything is built or created. The product checks the same at startup
// (checkPorts in packages/runtime), because it also runs without this script.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { findHolder } from "./process-lock.mjs";

/** The ports of a start and their defaults, those of packages/runtime/src/settings-schema.ts. */
export const START_PORTS = {
  SVC_WIDGET_PORT: 31415,
  SVC_API_PORT: 31416,
  SVC_TOOLS_PORT: 31417,
  SVC_CONSOLE_PORT: 31418,
  SVC_METRICS_PORT: null,
};

function isTaken(port, host) {
  return new Promise((settle) => {
    const server = createServer();
    // Other errors are reported by the product itself.
    server.once("error", (error) => settle(error.code === "EADDRINUSE"));
    server.listen(port, host, () => server.close(() => settle(false)));
  });
}

/** Returns the message for ports in use: the same as PortTakenError of packages/http. */
function describePorts(taken) {
  const settings = taken.map(({ setting }) => setting);
  const [what, others] =
    taken.length === 1
      ? [`Port ${taken[0].port} is`, "another port with"]
      : [`Ports ${taken.map(({ port }) => port).join(", ")} are`, "other ports with"];
  return `${what} already in use, possibly by another installation of this product. Stop that program, or choose ${others} ${settings.join(", ")}.`;
}

/** Apps that always use their port, as in packages/runtime. */
const UNSWITCHED = ["SVC_API_PORT", "SVC_CONSOLE_PORT"];

/** Returns the port settings that the product used last, as far as known (readSavedPorts in packages/runtime). */
function readSavedPorts(file) {
  try {
    const settings = JSON.parse(readFileSync(file, "utf8"));
    return Array.isArray(settings) ? settings : UNSWITCHED;
  } catch (error) {
    if (error instanceof SyntaxError || error.code === "ENOENT") return UNSWITCHED;
    throw error;
  }
}

/** Returns why a start would fail, in one line, or null. `env` is the environment of the start. */
export async function findStartProblem(env) {
  const dataDir = resolve(env.SVC_DATA_DIR || ".svc");
  const isEmbedded = !env.DATABASE_URL && !env.DATABASE_URL_FILE;
  if (isEmbedded && existsSync(dataDir)) {
    const folder = realpathSync(dataDir);
    const holder = findHolder(join(folder, "instance.lock"));
    if (holder !== null)
      return `The data folder ${folder} is in use by process ${holder.pid}. Stop that process, or set SVC_DATA_DIR to another folder.`;
  }
  // The database has the enabled apps; the first start enables all, and each start stores its ports for the next.
  const isFirst = isEmbedded && !existsSync(join(dataDir, "postgres", "PG_VERSION"));
  const recalled = isEmbedded ? readSavedPorts(join(dataDir, "ports.json")) : UNSWITCHED;
  const used = isFirst ? Object.keys(START_PORTS) : [...recalled, "SVC_METRICS_PORT"];
  const taken = [];
  for (const [setting, fallback] of Object.entries(START_PORTS)) {
    if (!used.includes(setting)) continue;
    const port = Number(env[setting] || (env[`${setting}_FILE`] ? 0 : (fallback ?? 0)));
    if (!Number.isInteger(port) || port < 1 || port > 65_535) continue;
    if (await isTaken(port, env.SVC_BIND_HOST || "127.0.0.1")) taken.push({ setting, port });
  }
  return taken.length === 0 ? null : describePorts(taken);
}
