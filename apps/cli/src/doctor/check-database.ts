import { hashApiKey } from "@svc/auth";
import { ServiceError } from "@svc/contracts";
import { describeVanished, findClockProblem } from "@svc/runtime";
import { describeBytes, findPooler, readPostgresVersion, readSchemaState, storageWarnings } from "@svc/store";
import type { PoolerMode, Project, SchemaState, Store } from "@svc/store";
import type { Cli } from "../cli.ts";
import { fail, ok, warn } from "./check.ts";
import type { Check, RunningApps } from "./check.ts";
import type { Database, DatabaseOrigin } from "../with-resources.ts";

const POSTGRES = "PostgreSQL";
const OLDEST = 14;

const ORIGINS: Record<DatabaseOrigin, string> = {
  configured: "from DATABASE_URL",
  running: "embedded, running",
  started: "embedded, started for this check",
};

function checkSchema(state: SchemaState, { self, startWith }: Cli): Check {
  const name = "Schema";
  const checks: Record<SchemaState, Check> = {
    current: ok(name, "up to date"),
    newer: warn(name, "newer than this version", "Finish the upgrade of the product."),
    older: fail(
      name,
      "missing, or older than this version",
      `Run: ${self} migrate (or ${startWith}, which migrates automatically)`,
    ),
  };
  return checks[state];
}

/** Advice for a pooler in transaction mode. */
const DIRECT_ADVICE = "Set DATABASE_DIRECT_URL to the host and port of PostgreSQL itself. See docs/recipes/managed.md.";

/**
 * Returns the check of a pooler by its mode, that of the pooler behind `DATABASE_DIRECT_URL`, and where the queues
 * are.
 */
export function judgePooler(mode: PoolerMode, direct: PoolerMode | null, hasRedis: boolean): Check {
  const name = "Pooler";
  const detail = `DATABASE_URL is a connection pooler in ${mode} mode`;
  if (direct !== "transaction") return ok(name, detail);
  if (hasRedis) return warn(name, `${detail}; migrations and backups cannot use it`, DIRECT_ADVICE);
  return fail(name, `${detail}; queues on PostgreSQL, migrations and backups cannot use it`, DIRECT_ADVICE);
}

/** Checks version, connection and schema of a database; rejects if it is unreachable. */
export async function checkDatabase(
  cli: Cli,
  { origin, config }: Database,
): Promise<{ checks: Check[]; canOpen: boolean }> {
  const version = await readPostgresVersion(config.databaseUrl);
  const detail = `version ${version.text}, ${ORIGINS[origin]}`;
  const server: Check =
    version.major >= OLDEST ? ok(POSTGRES, detail) : fail(POSTGRES, detail, `Upgrade to version ${OLDEST} or newer.`);
  const mode = await findPooler(config.databaseUrl);
  const hasRedis = config.redisUrl !== undefined;
  const pooler = mode === null ? [] : [judgePooler(mode, await findPooler(config.directUrl), hasRedis)];
  const state = await readSchemaState(config.databaseUrl);
  // Behind a misconfigured pooler, all other checks would fail with misleading reasons.
  const canOpen = state !== "older" && pooler.every(({ status }) => status !== "fail");
  return { checks: [server, ...pooler, checkSchema(state, cli)], canOpen };
}

/** Checks that the clocks of this machine and of the database agree. */
export async function checkClock(store: Pick<Store, "readTimeMs">): Promise<Check> {
  const problem = await findClockProblem(store);
  if (problem === null) return ok("Clock", "matches the database's clock");
  return warn("Clock", problem, "Synchronize it: timedatectl set-ntp true");
}

const STORAGE = "Storage";

/** Compares the storage of projects with their limits. Warns at 80 % of a limit or more. */
export async function checkStorage(store: Pick<Store, "storedBytes">): Promise<Check> {
  const usage = await store.storedBytes.read();
  const warnings = storageWarnings(usage);
  if (warnings.length === 0) {
    const { totalBytes, limits } = usage;
    const detail = `${describeBytes(totalBytes)} of ${describeBytes(limits.installationMaxBytes)} used`;
    return ok(STORAGE, detail);
  }
  return warn(
    STORAGE,
    warnings.join("; "),
    "Delete files or documents, shorten the project's fileRetentionDays, or raise SVC_STORAGE_PROJECT_MAX_MB and SVC_STORAGE_INSTALLATION_MAX_MB.",
  );
}

/** Writes, reads and deletes an object; shows nothing if files are stored in PostgreSQL. */
export async function checkFileStore(store: Pick<Store, "fileObjects">): Promise<Check | Check[]> {
  const name = "File store";
  try {
    return (await store.fileObjects.check()) ? ok(name, "writes, reads and deletes objects") : [];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return fail(
      name,
      error.message,
      "Check host, bucket, key and secret in SVC_FILES_URL. Files stay in PostgreSQL until then.",
    );
  }
}

/** Maximum number of crashed processes that are listed in full. */
const SHOWN = 3;

/** Lists running processes, and those that have ended without a shutdown within the last day. */
export async function checkProcesses(
  processes: Pick<Store["processes"], "listVanished">,
  apps: RunningApps,
): Promise<Check> {
  const name = "Processes";
  const running = [...apps].map(([app, { count }]) => `${app} ${count}`);
  const detail = running.length === 0 ? "none running" : `running: ${running.join(", ")}`;
  const vanished = await processes.listVanished();
  if (vanished.length === 0) return ok(name, detail);
  const lines = vanished.slice(0, SHOWN).map(describeVanished);
  const more = vanished.length - lines.length;
  return warn(
    name,
    [detail, ...lines, ...(more === 0 ? [] : [`and ${more} more within a day`])].join("\n"),
    "Interrupted work is repeated. To find the cause: docker inspect --format '{{.State.OOMKilled}} {{.State.ExitCode}}' <container>, docker events or journalctl -k, and the last lines of the log.",
  );
}

/** Maximum number of projects in a check. */
const SHOWN_PROJECTS = 5;

function listNames(names: readonly string[]): string {
  return [...names.slice(0, SHOWN_PROJECTS), ...(names.length > SHOWN_PROJECTS ? ["…"] : [])].join(", ");
}

async function checkAdminKey(store: Store, { self, startWith }: Cli): Promise<Check> {
  const name = "Admin key";
  if (await store.apiKeys.hasLiveAdminBeside([])) return ok(name, "exists");
  return fail(name, "is missing", `Run: ${self} init (or ${startWith})`);
}

async function checkOwnKey(store: Store, key: string | null, { startWith }: Cli): Promise<Check> {
  const name = "CLI key";
  if (key === null) {
    const advice = `Set SVC_ADMIN_KEY to a key, or start the service on this data folder with: ${startWith}`;
    return warn(name, "is missing, but svc ask needs one", advice);
  }
  if ((await store.apiKeys.findLiveByHash(hashApiKey(key))) !== null) return ok(name, "is valid");
  const advice = `It becomes valid when the service starts with it: ${startWith}`;
  return warn(name, "is unknown to this database, or revoked", advice);
}

/** Returns groups of projects that share a webhook secret. */
function findSharedSecrets(store: Pick<Store, "sealer">, projects: readonly Project[]): string[][] {
  const names = new Map<string, string[]>();
  for (const { name, webhookSecret } of projects) {
    const secret = webhookSecret === null ? null : store.sealer.open(webhookSecret);
    if (secret !== null) names.set(secret, [...(names.get(secret) ?? []), name]);
  }
  return [...names.values()].filter((group) => group.length > 1);
}

/** Checks whether the callbacks of each project are signed with its own secret. */
async function checkWebhookSecrets(store: Store, { self }: Cli): Promise<Check> {
  const name = "Webhook secret";
  const projects = await store.projects.list();
  const [shared] = findSharedSecrets(store, projects);
  if (shared !== undefined) {
    const detail = `${listNames(shared)} have the same secret: a receiver of one project could sign callbacks of another`;
    const advice = `Set a separate secret for each: ${self} webhook secret --project ${shared.at(-1)} --generate`;
    return warn(name, detail, advice);
  }
  const unset = projects.filter(({ webhookSecret }) => webhookSecret === null).map((project) => project.name);
  const [first] = unset;
  if (first === undefined) return ok(name, "set");
  const where = projects.length === 1 ? "not set" : `not set for ${listNames(unset)}`;
  return ok(
    name,
    `${where}: callbacks are signed with the API key that sent the message`,
    `Hint: set one, so that receivers do not need an API key: ${self} webhook secret --project ${first} --generate`,
  );
}

async function checkChannels(store: Store, cli: Cli): Promise<Check[]> {
  const { enabled } = await store.channelsConfig.read();
  const channel: Check = enabled.includes("api")
    ? ok("Channels", `enabled: ${enabled.join(", ")}`)
    : warn(
        "Channels",
        "the HTTP API is disabled and accepts no messages",
        `Enable it: ${cli.self} channels enable api`,
      );
  return [channel, await checkWebhookSecrets(store, cli)];
}

/** Checks the result of the initialization: keys and channels. `key` is the key of this command line. */
export async function checkInstallation(cli: Cli, store: Store, key: string | null): Promise<Check[]> {
  return [await checkAdminKey(store, cli), await checkOwnKey(store, key, cli), ...(await checkChannels(store, cli))];
}
