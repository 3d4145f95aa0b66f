import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { checkPortsFree } from "@svc/http";
import type { EarlyConfig } from "./load-config.ts";

/** The port settings of the apps that listen from startup on. The widget listens while its channel is enabled. */
const PORTS = {
  api: { setting: "SVC_API_PORT", port: ({ ports }) => ports.api },
  "tool-server": { setting: "SVC_TOOLS_PORT", port: ({ ports }) => ports.tools },
  console: { setting: "SVC_CONSOLE_PORT", port: ({ ports }) => ports.console },
  widget: { setting: "SVC_WIDGET_PORT", port: ({ ports }) => ports.widget },
} as const satisfies Record<string, { setting: string; port: (config: Pick<EarlyConfig, "ports">) => number }>;

/** An app that has a port of its own. */
export type ListeningApp = keyof typeof PORTS;

/** Returns true for an app that listens on a port of its own as soon as it starts. */
export function listensAtStart(app: string): app is Exclude<ListeningApp, "widget"> {
  return app in PORTS && app !== "widget";
}

/**
 * Checks the ports of these apps, and that of the metrics, before anything is opened or created. Throws PortTakenError
 * or CannotListenError. A host that is set in the database instead of SVC_BIND_HOST is not known yet: then loopback is
 * checked, and an error of the other address occurs during startup.
 */
export async function checkPorts(
  apps: readonly ListeningApp[],
  config: Pick<EarlyConfig, "ports" | "bindHost">,
): Promise<void> {
  const host = config.bindHost ?? "127.0.0.1";
  const { metrics } = config.ports;
  await checkPortsFree([
    ...apps.map((app) => ({ host, port: PORTS[app].port(config), setting: PORTS[app].setting })),
    ...(metrics === undefined ? [] : [{ host, port: metrics, setting: "SVC_METRICS_PORT" }]),
  ]);
}

/** Apps that always listen. Whether the others do is a setting in the database. */
export const UNSWITCHED_APPS: readonly ListeningApp[] = ["api", "console"];

/** File of the data folder with the settings of the ports that the last run used, as a JSON array. */
const REMEMBERED_FILE = "ports.json";

/**
 * Saves which apps have a port, for the check of the next start, at which the database with the settings does not run
 * yet. Written at the end of a run. Also read by scripts/check-start.mjs.
 */
export async function savePorts(dataDir: string, apps: readonly ListeningApp[]): Promise<void> {
  const file = join(dataDir, REMEMBERED_FILE);
  await writeFile(`${file}.new`, `${JSON.stringify(apps.map((app) => PORTS[app].setting))}\n`);
  await rename(`${file}.new`, file);
}

/**
 * Removes the saved list: at startup, because the process may be killed, and when the settings change while the product
 * does not run.
 */
export async function removeSavedPorts(dataDir: string): Promise<void> {
  await rm(join(dataDir, REMEMBERED_FILE), { force: true });
}

/** Returns the apps of this data folder whose ports a start uses, as far as they are known. */
export async function readSavedPorts(dataDir: string): Promise<readonly ListeningApp[]> {
  try {
    const settings: unknown = JSON.parse(await readFile(join(dataDir, REMEMBERED_FILE), "utf8"));
    if (!Array.isArray(settings)) return UNSWITCHED_APPS;
    return (Object.keys(PORTS) as ListeningApp[]).filter((app) => settings.includes(PORTS[app].setting));
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return UNSWITCHED_APPS;
    throw error;
  }
}
