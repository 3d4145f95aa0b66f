import { setTimeout as sleep } from "node:timers/promises";
import { createToolOpener, followModels, modelProviderOf } from "@svc/agents";
import type { FindModelsConfig, LanguageModels, ModelCatalogue, ModelsConfig, ToolOpener } from "@svc/agents";
import { explainCertificateError } from "@svc/contracts";
import { EmbeddingError, openEmbeddings, readModelFolder } from "@svc/knowledge";
import type { EmbeddingSource, Embeddings } from "@svc/knowledge";
import { createLog } from "@svc/log";
import type { Log } from "@svc/log";
import { makePushKeys, openMailer } from "@svc/outbound";
import type { Mailer, PushKeys, PushSender } from "@svc/outbound";
import { errorCode } from "@svc/primitives";
import { migrateQueues, openQueues } from "@svc/queue";
import type { Queues } from "@svc/queue";
import {
  createBriefCache,
  findPooler,
  isRejectedSetting,
  migrateStore,
  openStore,
  readDatabaseState,
} from "@svc/store";
import type { DatabaseState, PoolerMode, Store } from "@svc/store";
import { createFetchGuard } from "./guards.ts";
import type { Config } from "./load-config.ts";

/**
 * Migrates our own schema and that of the queues to this version. Safe to repeat and to run concurrently. Throws
 * StartError behind a pooler in transaction mode.
 */
export async function migrateAll(directUrl: string, log: Log): Promise<void> {
  const { schema, pooler } = await readDatabaseState(directUrl);
  requireSessions(pooler, "Migrations");
  if (schema === "older") await migrateStore(directUrl, log);
  await migrateQueues(directUrl, log);
}

/** Throws StartError if a pooler gives each transaction another connection. `user` names what needs a session. */
function requireSessions(pooler: PoolerMode | null, user: string): void {
  if (pooler !== "transaction") return;
  throw new StartError(
    `${user} cannot use a connection pooler in transaction mode. Set DATABASE_DIRECT_URL to the address of PostgreSQL itself. See docs/recipes/managed.md.`,
  );
}

/** Reason why PostgreSQL was not reached at startup. */
interface StoreProblem {
  /** Description without addresses and passwords. */
  words: string;
  /** True if waiting does not help, because a setting has to be corrected. */
  isLasting: boolean;
}

const CREDENTIALS = { words: "Check the user, password and database in DATABASE_URL.", isLasting: true };

const POOLER = {
  words: "a connection pooler rejects a parameter of DATABASE_URL, such as `options`; remove it",
  isLasting: true,
};

/** By SQLSTATE or system error code. */
const ERRORS: Readonly<Record<string, StoreProblem>> = {
  "28P01": CREDENTIALS,
  "28000": CREDENTIALS,
  "3D000": CREDENTIALS,
  "53100": { words: "its disk is full; free disk space", isLasting: false },
  "53300": { words: "it has no free connections; raise max_connections, or run fewer processes", isLasting: false },
  "57P03": { words: "it is starting or recovering", isLasting: false },
  ECONNREFUSED: { words: "no server is listening on the host and port in DATABASE_URL", isLasting: false },
  ENOTFOUND: { words: "the host name in DATABASE_URL does not exist", isLasting: false },
  EAI_AGAIN: {
    words: "the host name in DATABASE_URL does not exist, or the DNS server is unavailable",
    isLasting: false,
  },
  ETIMEDOUT: { words: "the host in DATABASE_URL does not respond", isLasting: false },
  EHOSTUNREACH: { words: "there is no route to the host in DATABASE_URL", isLasting: false },
  ENETUNREACH: { words: "there is no route to the host in DATABASE_URL", isLasting: false },
};

/** Explains why PostgreSQL was not reached, and whether waiting can help. */
export function explainStoreError(error: unknown): StoreProblem {
  const certificate = explainCertificateError(error);
  if (certificate !== null) return { words: certificate, isLasting: true };
  if (isRejectedSetting(error)) return POOLER;
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const known = ERRORS[errorCode(error) ?? errorCode(first) ?? ""];
  return known ?? { words: "see the attached error", isLasting: false };
}

/** Much more than network delay, much less than the signature age that receivers of callbacks accept (5 min). */
const TOLERANCE_MS = 30_000;

/**
 * Compares the clock of this process with that of the database, which all processes share. Returns a description if
 * they differ by more than 30 s, else null. Rejects as the store does.
 */
export async function findClockProblem(store: Pick<Store, "readTimeMs">): Promise<string | null> {
  const before = Date.now();
  const there = await store.readTimeMs();
  // The database read its clock at some time between the two readings.
  const apart = Math.round((before + Date.now()) / 2 - there);
  if (Math.abs(apart) <= TOLERANCE_MS) return null;
  const seconds = Math.round(Math.abs(apart) / 1_000);
  const by = seconds < 120 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`;
  return `The clock of this machine is ${by} ${apart > 0 ? "ahead of" : "behind"} the database's clock. Callback signatures and sign-ins contain timestamps and may be rejected: synchronize both with NTP.`;
}

/** Resources that every service gets. */
export interface Resources {
  config: Config;
  store: Store;
  queues: Queues;
  /** Embeddings for semantic search; null if none are configured and searches use words only. */
  embeddings: Embeddings | null;
  /** Language models of agents; agents quote while no server is configured. */
  models: LanguageModels;
  /** Lists models and pulls them. */
  catalogue: ModelCatalogue;
  /** Opens the tools of agents, through the guard of requests on behalf of others. */
  openTools: ToolOpener;
  /** Sends emails; null if no mail server is configured. */
  mailer: Mailer | null;
  log: Log;
}

/** An error that prevents startup, with what to do about it. */
export class StartError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "StartError";
  }
}

/** Meaning of a secret key that opens no stored secret. */
const WRONG_KEY = "is not the key that this database was set up with; sealed secrets cannot be decrypted.";

/** Timeout for reading Redis's settings at startup. */
const POLICY_WAIT_MS = 2_000;
const RETRY_MS = 500;
const REPORT_EVERY = 20;

function codeIn(error: unknown): string {
  const code = errorCode(error);
  return code === undefined ? "" : ` (${code})`;
}

/**
 * Waits until the store responds; logs the reason at once and every ten seconds. Throws StartError if waiting cannot
 * help.
 */
export async function waitForStore(
  url: string,
  log: { warn(fields: object, text: string): void },
): Promise<DatabaseState> {
  for (let round = 0; ; round++) {
    try {
      return await readDatabaseState(url);
    } catch (error) {
      const { words, isLasting } = explainStoreError(error);
      // Waiting does not help with a wrong password or certificate.
      if (isLasting) throw new StartError(`PostgreSQL rejected the connection${codeIn(error)}: ${words}`);
      if (round % REPORT_EVERY === 0) log.warn({ error }, `PostgreSQL is not reachable yet (${words}); waiting`);
      await sleep(RETRY_MS);
    }
  }
}

/** Throws StartError if the folder of a model is incomplete, since waiting does not help. */
function sourceOf(embeddings: NonNullable<Config["embeddings"]>): EmbeddingSource {
  if (!("dir" in embeddings)) return embeddings;
  try {
    return { folder: readModelFolder(embeddings.dir) };
  } catch (error) {
    if (!(error instanceof EmbeddingError)) throw error;
    throw new StartError(`SVC_EMBEDDINGS_DIR contains no valid model: ${error.message}. See docs/models.md`);
  }
}

/** A change of the model settings takes effect within this time, or within twice this time in other processes. */
const MODEL_SETTINGS_MS = 1_000;

/**
 * Creates the function that reads the configuration of language models, at most once a second: the stored server before
 * the providers of the environment, unless the environment sets the first server or one of the same name.
 */
function createModelsFinder({ models, modelCalls, isModelServerFixed }: Config, store: Store): FindModelsConfig {
  const own = models ?? null;
  if (isModelServerFixed) return () => Promise.resolve(own);
  const cache = createBriefCache<{ config: ModelsConfig | null }>(MODEL_SETTINGS_MS);
  const read = async () => {
    const stored = await store.installation.findModelSettings();
    if (stored === null) return { config: own };
    const apiKey = stored.apiKey === null ? undefined : (store.sealer.open(stored.apiKey) ?? undefined);
    const provider = modelProviderOf({ baseUrl: stored.baseUrl, api: stored.api, apiKey });
    const others = own?.providers ?? [];
    if (others.some(({ name }) => name === provider.name)) return { config: own };
    // SVC_LLM_MODEL is ignored: it names a model of another server, whose data must not be sent here.
    return { config: { providers: [provider, ...others], defaultModel: stored.model, ...modelCalls } };
  };
  return async () => (await cache.get("models", read))?.config ?? null;
}

/**
 * Opens the resources of services: log, store, queues. Waits for the store, or rejects at once as pg does if `waits` is
 * false. Rejects a schema of a newer version, a secret key that does not belong to the store, an incomplete model
 * folder, and (in production) a Redis that may evict jobs.
 */
export async function openResources(
  config: Config,
  options: { app: string; log?: Log; waits?: boolean },
): Promise<Resources> {
  const log = options.log ?? createLog({ level: config.logLevel, name: options.app });
  const source = config.embeddings === undefined ? null : sourceOf(config.embeddings);
  const { databaseUrl: url, directUrl } = config;
  const { schema, pooler } = await (options.waits === false ? readDatabaseState(url) : waitForStore(url, log));
  if (schema === "older") throw new StartError("The database schema is older than this version. Run: svc migrate");
  if (schema === "newer") {
    log.warn({}, "the database schema is newer than this version; finish the upgrade of this app soon");
  }
  if (pooler !== null) log.info({ pooler }, "PostgreSQL is behind a connection pooler; statements are not prepared");
  if (config.redisUrl === undefined)
    requireSessions(directUrl === url ? pooler : await findPooler(directUrl), "Queues on PostgreSQL");
  const store = openStore({
    url,
    secretKey: config.secretKey,
    log,
    app: `svc-${options.app}`,
    storageLimits: config.storageLimits,
    filesUrl: config.filesUrl,
  });
  if (!(await store.installation.checkSecretKey(store.sealer))) {
    await store.close();
    throw new StartError(
      config.secretKeyFile === undefined
        ? `SVC_SECRET_KEY ${WRONG_KEY} Set it to the key used at the first startup.`
        : `SVC_SECRET_KEY (read from ${config.secretKeyFile}) ${WRONG_KEY} Restore this file from your backup of the key.`,
    );
  }
  const clockProblem = await findClockProblem(store);
  if (clockProblem !== null) log.warn({}, clockProblem);
  const queues = openQueues({
    databaseUrl: config.directUrl,
    redisUrl: config.redisUrl,
    prefix: config.queuePrefix,
    log,
  });
  const embeddings = source === null ? null : openEmbeddings({ ...source, store, log });
  const { models, catalogue } = followModels(createModelsFinder(config, store), { log, store });
  // Loads the health of configured providers from the start.
  await models.config();
  const policyProblem = await queues.findPolicyProblem(POLICY_WAIT_MS);
  if (policyProblem !== null && config.isProduction) {
    await closeResources({ store, queues, embeddings, models });
    throw new StartError(policyProblem);
  }
  if (policyProblem !== null) log.warn({}, policyProblem);
  const openTools = createToolOpener({ guard: createFetchGuard(config), log });
  const mailer = config.email === undefined ? null : openMailer(config.email.server, config.email.from);
  return { config, store, queues, embeddings, models, catalogue, openTools, mailer, log };
}

/** Closes what `openResources` opened. */
export async function closeResources({
  queues,
  store,
  embeddings,
  models = null,
  mailer = null,
}: Pick<Resources, "store" | "queues" | "embeddings"> & {
  models?: LanguageModels | null;
  mailer?: Mailer | null;
}): Promise<void> {
  mailer?.close();
  await models?.close();
  await embeddings?.close();
  await queues.close();
  await store.close();
}

/**
 * Returns the keys by which push services recognize this installation; creates them on first use. They never change:
 * browsers subscribe to their public key. Throws StartError if they were sealed with another secret key.
 */
export async function readPushKeys({ sealer, pushSubscriptions }: Store): Promise<PushKeys> {
  const made = await makePushKeys();
  const stored = await pushSubscriptions.ensureKeys(() => ({ ...made, privateKey: sealer.seal(made.privateKey) }));
  const privateKey = sealer.open(stored.privateKey);
  if (privateKey === null)
    throw new StartError("The keys for push notifications cannot be decrypted with SVC_SECRET_KEY.");
  return { publicKey: stored.publicKey, privateKey };
}

/** Contact for push services: the sender of emails, else the public URL of the console. */
const contactOf = ({ email, consoleUrl }: Pick<Config, "email" | "consoleUrl">) =>
  email === undefined ? consoleUrl.replace(/^http:/, "https:") : `mailto:${email.from.address}`;

/** Returns the keys and the contact of this installation for push services. Throws as `readPushKeys`. */
export const readPushSender = async (
  store: Store,
  config: Pick<Config, "email" | "consoleUrl">,
): Promise<PushSender> => ({ keys: await readPushKeys(store), subject: contactOf(config) });
