import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Service } from "@svc/contracts";
import { CannotListenError, PortTakenError, checkPortsFree } from "@svc/http";
import { createLog } from "@svc/log";
import { ConfigError, loadConfig } from "./load-config.ts";
import type { EarlyConfig } from "./load-config.ts";
import { StartError, openResources } from "./open-resources.ts";
import type { Resources } from "./open-resources.ts";
import { runServices } from "./run-services.ts";
import type { Running } from "./run-services.ts";

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
function listensAtStart(app: string): app is Exclude<ListeningApp, "widget"> {
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

/** Time for timers and handles that a library leaves behind after its close. */
const LINGER_MS = 500;

/**
 * Ends a process that has no work left. After a lost connection, BullMQ leaves a timer of 30 s, and the process must
 * end before its supervisor kills it.
 */
function exitSoon(): void {
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

/** Ends the process once everything has stopped. */
export async function exitOnceStopped({ stopped }: Pick<Running, "stopped">): Promise<void> {
  await stopped;
  exitSoon();
}

/**
 * Runs an app, as its `main.ts`: reads the configuration, opens the resources, runs the service. A configuration error
 * is one log line and exit code 78 (EX_CONFIG); any other startup error is exit code 1.
 */
export async function runApp(
  app: string,
  env: Readonly<Record<string, string | undefined>>,
  makeService: (resources: Resources) => Service,
): Promise<void> {
  // As PID 1 of a container, Node.js ends at a signal only if there is a listener; runServices adds its own later.
  const quit = () => process.exit(0);
  process.once("SIGTERM", quit).once("SIGINT", quit);
  try {
    const config = loadConfig(env);
    await checkPorts(listensAtStart(app) ? [app] : [], config);
    const resources = await openResources(config, { app });
    process.off("SIGTERM", quit).off("SIGINT", quit);
    await exitOnceStopped(await runServices([makeService(resources)], resources));
  } catch (error) {
    const log = createLog({ level: "error", name: app });
    if (error instanceof ConfigError) {
      log.error({ problems: error.problems }, "invalid configuration; see docs/configuration.md");
      process.exitCode = 78;
    } else if (error instanceof StartError || error instanceof PortTakenError || error instanceof CannotListenError) {
      log.error({}, error.message);
      process.exitCode = 1;
    } else {
      log.error({ error }, "app failed to start");
      process.exitCode = 1;
    }
    exitSoon();
  }
}
