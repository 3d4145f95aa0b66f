import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isGuessableKey } from "@svc/auth";
import { errorCode } from "@svc/primitives";
import { ConfigError, SETTINGS, loadConfig, readEnvironment } from "@svc/runtime";
import type { EarlyConfig } from "@svc/runtime";
import type { Environment } from "../cli.ts";
import { fail, ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

/** The oldest supported version of Node.js, as in package.json. */
const OLDEST_NODE = { major: 20, minor: 19 };
/** The oldest major version that still gets security fixes. */
const OLDEST_MAINTAINED = 22;

/** Checks the version of Node.js, as in `20.19.4`. */
export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const name = "Node.js";
  const detail = `version ${version}`;
  if (major < OLDEST_NODE.major || (major === OLDEST_NODE.major && minor < OLDEST_NODE.minor)) {
    const advice = `Install version ${OLDEST_NODE.major}.${OLDEST_NODE.minor} or newer; 24 is recommended.`;
    return fail(name, detail, advice);
  }
  if (major >= OLDEST_MAINTAINED) return ok(name, detail);
  // Supported, as the README says; the version that is recommended is named.
  return ok(name, `${detail}, which no longer receives security fixes; 24 is recommended`);
}

const CONFIGURATION = "Configuration";
const CONFIGURATION_ADVICE = "See docs/configuration.md.";

function problemsOf(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

/** Variables that documentation, commands or API clients use, but not the service. */
const OF_CLIENTS = ["SVC_WEBHOOK_SECRET", "SVC_URL", "SVC_KEY"];

/** Warns about unknown variables that look like settings, which are mostly typos. */
function checkUnknownNames(env: Environment): Check[] {
  const known = new Set([...OF_CLIENTS, ...Object.keys(SETTINGS).flatMap((name) => [name, `${name}_FILE`])]);
  const unknown = Object.keys(env).filter((name) => name.startsWith("SVC_") && !known.has(name));
  return unknown.map((name) =>
    warn(CONFIGURATION, `${name} is not a setting and has no effect`, `Correct the name. ${CONFIGURATION_ADVICE}`),
  );
}

/** Warns about an administrator's key that is easy to guess. */
function checkAdminKeyStrength({ adminKey }: EarlyConfig): Check[] {
  if (adminKey === undefined || !isGuessableKey(adminKey)) return [];
  const advice = "Set a random value, for example from: openssl rand -hex 32";
  return [warn(CONFIGURATION, "SVC_ADMIN_KEY is easy to guess", advice)];
}

/** Warns about single sign-on with a redirect URL from the Host header that callers send through the proxy. */
function checkOidcHost({ oidc, publicUrls, trustProxy }: EarlyConfig): Check[] {
  if (oidc === undefined || publicUrls.length > 0 || trustProxy.length === 0) return [];
  const detail = "SVC_OIDC_ISSUER is set without SVC_PUBLIC_URLS: single sign-on redirects to any host in the request";
  return [warn(CONFIGURATION, detail, "Set SVC_PUBLIC_URLS to the console's public URL.")];
}

/**
 * Warns about a proxy that is not listed. The ports only speak HTTP, so that a public URL with TLS implies a proxy,
 * whose callers would share the limits of one address, such as the text that widget visitors can send in a day.
 */
function checkProxy({ publicUrls, trustProxy }: EarlyConfig): Check[] {
  const url = publicUrls.find((publicUrl) => publicUrl.startsWith("https:"));
  if (url === undefined || trustProxy.length > 0) return [];
  const detail = `${url} is served by a proxy, and SVC_TRUST_PROXY lists none: all callers share the limits of one address`;
  return [warn(CONFIGURATION, detail, "Set SVC_TRUST_PROXY to the address of the proxy.")];
}

/** Warns about emails whose unsubscribe links do not lead to the widget's public URL. */
function checkWidgetUrl({ email, widgetUrl }: EarlyConfig): Check[] {
  if (email === undefined || widgetUrl.startsWith("https:")) return [];
  const detail = `SVC_WIDGET_URL is not a URL with https://: customers cannot unsubscribe from emails at ${widgetUrl}`;
  return [warn(CONFIGURATION, detail, "Set SVC_WIDGET_URL to the public URL of the widget's port.")];
}

/** Checks the settings of the environment, with every problem; the configuration is null if there are any. */
export function checkConfiguration(env: Environment): { checks: Check[]; config: EarlyConfig | null } {
  let problems = problemsOf(() => readEnvironment(env));
  const config = problems.length === 0 ? readEnvironment(env) : null;
  // An external database requires a secret key.
  if (config?.databaseUrl !== undefined) problems = problemsOf(() => loadConfig(env));
  if (config === null || problems.length > 0) {
    const checks = problems.map((detail): Check => fail(CONFIGURATION, detail, CONFIGURATION_ADVICE));
    return { checks: [...checks, ...checkUnknownNames(env)], config: null };
  }
  return {
    checks: [
      ok(CONFIGURATION, "all settings are valid"),
      ...checkAdminKeyStrength(config),
      ...checkOidcHost(config),
      ...checkProxy(config),
      ...checkWidgetUrl(config),
      ...checkUnknownNames(env),
    ],
    config,
  };
}

const DATA_FOLDER = "Data folder";
const SECRET_FILES = ["secret-key", "cli-key", "postgres-password", "admin-key", "sign-up-link"];
const OTHERS_MASK = 0o077;
const OTHERS_WRITE = 0o022;

async function modeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).mode;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

async function isUsable(folder: string): Promise<boolean> {
  return access(folder, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function nearestFolder(path: string): Promise<string> {
  return (await modeOf(path)) === null && dirname(path) !== path ? nearestFolder(dirname(path)) : path;
}

/** Returns the secrets in a folder that other users can read. Not checked on Windows, which has other permissions. */
async function findOpenSecrets(folder: string): Promise<string[]> {
  if (process.platform === "win32") return [];
  const paths = SECRET_FILES.map((file) => join(folder, file));
  const modes = await Promise.all(paths.map(modeOf));
  return paths.filter((_, index) => ((modes[index] ?? 0) & OTHERS_MASK) !== 0);
}

/** With less free space, the database of the data folder may soon reject writes. */
const LITTLE_MB = 512;
const MB = 1_000_000;

/** Returns the free disk space of a folder, in MB. */
async function readRoom(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return Math.floor((bavail * bsize) / MB);
}

/** Checks that the data folder is usable, and that other users cannot read its secrets. */
export async function checkDataFolder({ dataDir, databaseUrl }: EarlyConfig): Promise<Check> {
  const folder = resolve(dataDir);
  if (databaseUrl !== undefined) return ok(DATA_FOLDER, "not needed: DATABASE_URL is set");
  const nearest = await nearestFolder(folder);
  if (!(await isUsable(nearest))) {
    return fail(
      DATA_FOLDER,
      `no write permission for ${nearest}`,
      "Run this command as the owner, or choose another folder with SVC_DATA_DIR.",
    );
  }
  const room = await readRoom(nearest);
  if (room < LITTLE_MB) {
    const detail = `the disk of ${nearest} is nearly full: ${room} MB free`;
    const judge = room < 1 ? fail : warn;
    return judge(DATA_FOLDER, detail, "Free disk space. No messages are accepted when the disk is full.");
  }
  if (nearest !== folder) return ok(DATA_FOLDER, `${folder} is created at the first startup`);
  const mode = process.platform === "win32" ? 0 : ((await modeOf(folder)) ?? 0);
  if ((mode & OTHERS_WRITE) !== 0) {
    const detail = `other users can write to ${folder} (mode ${(mode & 0o777).toString(8)})`;
    return warn(DATA_FOLDER, detail, `Restrict it with: chmod 700 '${folder}'`);
  }
  const open = await findOpenSecrets(folder);
  if (open.length === 0) return ok(DATA_FOLDER, folder);
  return warn(
    DATA_FOLDER,
    `other users can read ${open.join(", ")}`,
    `Restrict them with: chmod 600 ${open.map((path) => `'${path}'`).join(" ")}`,
  );
}
