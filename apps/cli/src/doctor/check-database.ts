import type { LanguageModels } from "@svc/agents";
import { hashApiKey, localAdministrator } from "@svc/auth";
import { ServiceError } from "@svc/contracts";
import type { KbItem } from "@svc/contracts";
import { EmbeddingError } from "@svc/knowledge";
import type { Embeddings, ModelFolder } from "@svc/knowledge";
import { listKbs } from "@svc/operations";
import { describeVanished, findClockProblem } from "@svc/runtime";
import { describeBytes, findPooler, readPostgresVersion, readSchemaState, storageWarnings } from "@svc/store";
import type { PoolerMode, Project, SchemaState, Store } from "@svc/store";
import type { ApiState } from "../api-client.ts";
import { listAllKbs } from "../as-administrator.ts";
import type { Cli } from "../cli.ts";
import { safeLine } from "../terminal.ts";
import type { Database, DatabaseOrigin } from "../with-resources.ts";
import { fail, ok, warn } from "./check.ts";
import type { Check, RunningApps } from "./check.ts";

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

const KNOWLEDGE = "Knowledge";

/** Returns a number with its noun, as in "2 documents". */
const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;

/** Returns advice with the command that shows the documents of a knowledge base. */
function adviceFor({ self }: Cli, { name, project }: KbItem): string {
  return `Check the errors, fix the documents and add them again: ${self} kb list --kb ${safeLine(name, 80)} --project ${project}`;
}

/** Checks the knowledge bases of all projects: their size, and documents that could not be read. */
export async function checkKnowledge(cli: Cli, store: Store): Promise<Check> {
  const kbs: KbItem[] = [];
  for (const project of await store.projects.list())
    kbs.push(...(await listAllKbs({ listKbs: (page) => listKbs({ store }, localAdministrator(project), page) })));
  const sum = (of: (kb: KbItem) => number) => kbs.reduce((total, kb) => total + of(kb), 0);
  const failed = sum((kb) => kb.failed);
  const queued = sum((kb) => kb.queued);
  const detail = [
    count(kbs.length, "knowledge base"),
    count(
      sum((kb) => kb.chunks),
      "passage",
    ),
    ...(queued > 0 ? [`${count(queued, "document")} waiting`] : []),
    ...(failed > 0 ? [`${count(failed, "document")} could not be read`] : []),
  ].join(", ");
  const bad = kbs.find((kb) => kb.failed > 0);
  return bad === undefined ? ok(KNOWLEDGE, detail) : warn(KNOWLEDGE, detail, adviceFor(cli, bad));
}

const EMBEDDINGS = "Embeddings";

/** A server that has to load its model takes a while; a working one responds within this time. */
const EMBEDDING_DEADLINE_MS = 20_000;

const SERVER_ADVICE =
  "Searches use keywords only until it responds. Correct SVC_EMBEDDINGS_BASE_URL, SVC_EMBEDDINGS_MODEL or SVC_EMBEDDINGS_API_KEY, or start the server.";
const FOLDER_ADVICE =
  "Searches use keywords only until it works. Put a supported model into the folder SVC_EMBEDDINGS_DIR (docs/models.md) and restart.";

/** Returns the dimensions of an embedding, or why there is none. */
async function probe({ embedder }: Embeddings): Promise<{ dimensions: number } | { problem: string }> {
  const deadline = AbortSignal.timeout(EMBEDDING_DEADLINE_MS);
  try {
    const [embedding] = await embedder.embedTexts(["test"], deadline);
    if (embedding == null) return { problem: "it returned no embedding for a single word" };
    return { dimensions: embedding.length };
  } catch (error) {
    if (error instanceof EmbeddingError) return { problem: error.message };
    if (deadline.aborted) return { problem: `it did not respond within ${EMBEDDING_DEADLINE_MS} ms` };
    throw error;
  }
}

/** Returns the description of a loaded model; an empty text for the model of a server. */
function describe(folder: ModelFolder | null): string {
  if (folder === null) return "";
  const { dir, weights, weightsBytes, pooling, maxTokens } = folder;
  const size = `${Math.ceil(weightsBytes / 1_000_000)} MB`;
  return ` from ${dir} (${weights}, ${size}, pooling ${pooling}, the first ${maxTokens} tokens of a text)`;
}

/**
 * Checks that the embedding endpoint responds or the model in the folder can be loaded, its dimensions, and how many
 * passages have an embedding. Shows nothing if neither is configured: keyword search works without.
 */
export async function checkEmbeddings(store: Store, embeddings: Embeddings | null): Promise<Check[]> {
  if (embeddings === null) return [];
  const { model, folder } = embeddings.embedder;
  const found = await probe(embeddings);
  const { passages, embedded, refused } = await store.chunkEmbeddings.count(model);
  const numbers = "dimensions" in found ? ` with ${found.dimensions} dimensions` : "";
  const state = `${model}${describe(folder)}: ${embedded} of ${passages} passages have an embedding${numbers}${refused > 0 ? `, ${refused} cannot have one` : ""}`;
  if ("problem" in found) {
    const what = folder === null ? "the endpoint" : "the model";
    const advice = folder === null ? SERVER_ADVICE : FOLDER_ADVICE;
    return [warn(EMBEDDINGS, `${state}; ${what} does not work: ${found.problem}`, advice)];
  }
  const isDone = embedded + refused >= passages;
  const hint = "Hint: the pipeline creates the missing embeddings while it is running.";
  return [ok(EMBEDDINGS, state, isDone ? undefined : hint)];
}

const MODELS = "Models";

/** A server that has to load its model takes a while; a working one responds within this time. */
const MODEL_DEADLINE_MS = 30_000;

const MODEL_ADVICE =
  "Agents quote their knowledge bases until it responds. Correct SVC_LLM_BASE_URL, SVC_LLM_MODEL or SVC_LLM_API_KEY (SVC_ANTHROPIC_API_KEY for Anthropic models), or start the server.";

/** Returns why the configured model does not answer a short question; null if it does. */
async function findProblem(models: LanguageModels): Promise<string | null> {
  const deadline = AbortSignal.timeout(MODEL_DEADLINE_MS);
  try {
    return (await models.findProblem(deadline))?.message ?? null;
  } catch (error) {
    if (deadline.aborted) return `it did not respond within ${MODEL_DEADLINE_MS} ms`;
    throw error;
  }
}

const NONE_HERE = "none configured in this environment (SVC_LLM_BASE_URL)";

/** Returns the check of the running service's models if this environment has none; agents that quote need none. */
function checkService(state: ApiState): Check {
  const models = state.kind === "ours" ? state.models : "unknown";
  if (models === "unknown") {
    return ok(MODELS, `${NONE_HERE}; a service with other settings may have one`);
  }
  if (models === null) return ok(MODELS, "none configured: agents quote their knowledge bases");
  const detail = `${NONE_HERE}; the running service: ${models.detail}`;
  if (models.status === "pass") return ok(MODELS, detail);
  return warn(MODELS, detail, MODEL_ADVICE);
}

/**
 * Asks the configured model one short question. If none is configured here, `probe` returns the state of the running
 * service's models.
 */
export async function checkModels(models: LanguageModels | null, probe: () => Promise<ApiState>): Promise<Check[]> {
  if (models === null || (await models.config()) === null) return [checkService(await probe())];
  const model = await models.forAgent({ model: null });
  if (model === null) {
    const detail = "SVC_LLM_MODEL is not set, so only agents with their own model use one";
    return [ok(MODELS, detail)];
  }
  const problem = await findProblem(models);
  if (problem === null) return [ok(MODELS, `${model.id} responds`)];
  return [warn(MODELS, `${model.id} is not usable: ${problem}`, MODEL_ADVICE)];
}
