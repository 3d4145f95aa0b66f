import { setTimeout as sleep } from "node:timers/promises";
import { createToolOpener, followModels, modelProviderOf } from "@svc/agents";
import type { FindModelsConfig, LanguageModels, ModelCatalogue, ModelsConfig, ToolOpener } from "@svc/agents";
import { explainCertificateError } from "@svc/contracts";
import { EmbeddingError, openEmbeddings, readModelFolder } from "@svc/knowledge";
import type { EmbeddingSource, Embeddings } from "@svc/knowledge";
import { createLog } from "@svc/log";
import type { Log } from "@svc/log";
import { openMailer } from "@svc/outbound";
import type { Mailer } from "@svc/outbound";
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
 * Brings our own schema and that of the queues up to this version. Safe to repeat and to run concurrently. Throws
 * StartError behind a pooler in transaction mode.
 */
export async function migrateAll(directUrl: string, log: Log): Promise<void> {
  const { schema, pooler } = await readDatabaseState(directUrl);
  requireSessions(pooler, "Migrations");
  if (schema === "older") await migrateStore(directUrl, log);
  await migrateQueues(directUrl, log);
}

/** Throws StartError if a pooler gives each transaction another connection. `user` is what needs more than that. */
function requireSessions(pooler: PoolerMode | null, user: string): void {
  if (pooler !== "transaction") return;
  throw new StartError(
    `${user} cannot use a connection pooler in transaction mode. Set DATABASE_DIRECT_URL to the address of PostgreSQL itself. See docs/recipes/managed.md.`,
  );
}

/** Why a start did not reach PostgreSQL. */
interface StoreProblem {
  /** In words, without addresses and passwords. */
  words: string;
  /** True if waiting does not help, because somebody has to correct a setting. */
  isLasting: boolean;
}

const CREDENTIALS = { words: "Check the user, password and database in DATABASE_URL.", isLasting: true };

const POOLER = {
  words: "a connection pooler rejects a parameter of DATABASE_URL, such as `options`; remove it",
  isLasting: true,
};

/** By SQLSTATE or by the code of the system. */
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

/** Says in words why PostgreSQL was not reached, and whether waiting for it can help. */
export function explainStoreError(error: unknown): StoreProblem {
  const certificate = explainCertificateError(error);
  if (certificate !== null) return { words: certificate, isLasting: true };
  if (isRejectedSetting(error)) return POOLER;
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const known = ERRORS[errorCode(error) ?? errorCode(first) ?? ""];
  return known ?? { words: "see the attached error", isLasting: false };
}

/** Far more than a network takes, far less than what receivers of callbacks accept as the age of a signature (5 min). */
const TOLERANCE_MS = 30_000;

/**
 * Compares the clock of this process with that of the database, which all processes share. Answers in words when they
 * are more than 30 s apart, and null otherwise. Rejects as the store does.
 */
export async function findClockProblem(store: Pick<Store, "readTimeMs">): Promise<string | null> {
  const before = Date.now();
  const there = await store.readTimeMs();
  // The answer is from between the two moments.
  const apart = Math.round((before + Date.now()) / 2 - there);
  if (Math.abs(apart) <= TOLERANCE_MS) return null;
  const seconds = Math.round(Math.abs(apart) / 1_000);
  const by = seconds < 120 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`;
  return `The clock of this machine is ${by} ${apart > 0 ? "ahead of" : "behind"} the database's clock. Callback signatures and sign-ins contain timestamps and may be rejected: synchronize both with NTP.`;
}

/** What every service gets. */
export interface Resources {
  config: Config;
  store: Store;
  queues: Queues;
  /** What searches by meaning; null where nothing makes embeddings, and searches go by words alone. */
  embeddings: Embeddings | null;
  /** What agents answer with; while no server with language models is configured, they quote. */
  models: LanguageModels;
  /** Which models there are, and what pulls them. */
  catalogue: ModelCatalogue;
  /** Finds what an agent can call, through the guard of everything that is called on behalf of others. */
  openTools: ToolOpener;
  /** Sends emails; null where no mail server is configured. */
  mailer: Mailer | null;
  log: Log;
}

/** Something that keeps a process from starting, with what to do about it. */
export class StartError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "StartError";
  }
}

/** What a secret key that opens nothing means. */
const WRONG_KEY = "is not the key that this database was set up with; sealed secrets cannot be decrypted.";

/** How long a start waits for Redis to say how it is set up. */
const POLICY_WAIT_MS = 2_000;
const RETRY_MS = 500;
const REPORT_EVERY = 20;

function codeIn(error: unknown): string {
  const code = errorCode(error);
  return code === undefined ? "" : ` (${code})`;
}

/** Waits until the store answers; says so at once and every ten seconds. Throws StartError where waiting cannot help. */
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

/** Throws StartError when the folder of a model lacks something: it will not be there before somebody puts it there. */
function sourceOf(embeddings: NonNullable<Config["embeddings"]>): EmbeddingSource {
  if (!("dir" in embeddings)) return embeddings;
  try {
    return { folder: readModelFolder(embeddings.dir) };
  } catch (error) {
    if (!(error instanceof EmbeddingError)) throw error;
    throw new StartError(`SVC_EMBEDDINGS_DIR contains no valid model: ${error.message}. See docs/models.md`);
  }
}

/** A change of the model settings takes effect within this time, or twice that in other processes. */
const MODEL_SETTINGS_MS = 1_000;

/**
 * Creates the function that reads the configuration of language models, at most once a second: the stored server before
 * the providers of the environment, unless that sets the first server or one of the same name.
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
    // Not SVC_LLM_MODEL: it names a model of another server, and the questions for it are not for this one.
    return { config: { providers: [provider, ...others], defaultModel: stored.model, ...modelCalls } };
  };
  return async () => (await cache.get("models", read))?.config ?? null;
}

/**
 * Opens what services work with: log, store, queues. Waits for the store, or rejects at once as pg does where `waits` is
 * false; refuses a schema that this version does not know, a secret key that is not the one of this store, a folder that
 * is to have a model and has none, and (in production) a Redis that may drop jobs.
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
  // So that the health of configured providers is known from the start.
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
