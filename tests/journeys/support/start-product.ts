import { fileURLToPath } from "node:url";
import { openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { createTestDatabase, createTestQueueBackend, startComposition, testLog, queryDatabase } from "@svc/testing";
import type { Composition, CompositionName, DatabaseStart, FurtherApp } from "@svc/testing";

/** The product as real processes on a separate database, in the composition and with the queues of this run. */
export interface Product {
  /** The running processes; replaced by `restart`. */
  readonly composition: Composition;
  readonly databaseUrl: string;
  readonly adminKey: string;
  /** For data without an endpoint: agents, keys, settings. */
  readonly store: Store;
  /** Shuts all processes down gracefully and starts new ones on the same data, with additional settings. */
  restart(env: Record<string, string>): Promise<void>;
  /** Stops everything. Must be called in `afterAll`. */
  stop(): Promise<void>;
}

/** The servers of a product; tests that break them start their own. */
export interface Ground {
  databaseUrl: string;
  redisUrl?: string;
  prefix: string;
  /** Removes it once nothing uses it any more. */
  remove(): Promise<void>;
}

const GUIDE_DIR = fileURLToPath(new URL("../../../docs/guide", import.meta.url));
const ADMIN_KEY = "journey-administrator-5d0c7b1e";
/** Every process on one database needs the same key, including a command line. */
export const SECRET_KEY = "journey-secret-key-of-48-characters-0123456789ab";

/** The result of `initialize` with the default key, including the guide in the knowledge base. */
const INITIALIZED: DatabaseStart = { name: "initialized", fill: (url) => initializeDatabase(url, ADMIN_KEY) };

async function initializeDatabase(url: string, adminKey: string): Promise<void> {
  // Imported on demand: loading it takes a second in each test file, and most files copy an initialized database.
  const { initialize } = await import("@svc/operations");
  const log = testLog();
  const store = openStore({ url, secretKey: SECRET_KEY, log, app: "svc-journey" });
  try {
    await initialize({ store, log }, { configuredAdminKey: adminKey, guideDir: GUIDE_DIR, showsKey: true });
  } finally {
    await store.close();
  }
}

async function sharedGround(start?: DatabaseStart): Promise<Ground> {
  const database = await createTestDatabase(start);
  const queues = await createTestQueueBackend();
  return {
    databaseUrl: database.url,
    ...(queues.redisUrl === undefined ? {} : { redisUrl: queues.redisUrl }),
    prefix: queues.prefix,
    async remove() {
      await queues.stop();
      await database.drop();
    },
  };
}

/**
 * Starts the product, initialized with an administrator's key, and waits until every API is healthy. That key has no
 * rate limit, because tests make more requests than callers do, unless its default rate limit is requested.
 */
export async function startProduct(
  options: {
    env?: Record<string, string>;
    replicas?: number;
    /** Apps besides API and pipeline if the apps run separately. */
    apps?: readonly FurtherApp[];
    /** Default: the one set in TEST_COMPOSITION. */
    composition?: CompositionName;
    ground?: Ground;
    hasRateLimit?: boolean;
  } = {},
): Promise<Product> {
  const { env = {}, replicas = 2 } = options;
  const adminKey = env["SVC_ADMIN_KEY"] ?? ADMIN_KEY;
  const isCopied = options.ground === undefined && adminKey === ADMIN_KEY;
  const ground = options.ground ?? (await sharedGround(isCopied ? INITIALIZED : undefined));
  const { databaseUrl, redisUrl } = ground;
  const store = openStore({ url: databaseUrl, secretKey: SECRET_KEY, log: testLog(), app: "svc-journey" });

  const compose = (further: Record<string, string>) =>
    startComposition({
      databaseUrl,
      ...(redisUrl === undefined ? {} : { redisUrl }),
      replicas,
      ...(options.apps === undefined ? {} : { apps: options.apps }),
      ...(options.composition === undefined ? {} : { composition: options.composition }),
      env: {
        SVC_ADMIN_KEY: adminKey,
        SVC_SECRET_KEY: SECRET_KEY,
        SVC_QUEUE_PREFIX: ground.prefix,
        ...env,
        ...further,
      },
    });

  const removeGround = async () => {
    await store.close();
    await ground.remove();
  };
  let composition: Composition;
  try {
    if (!isCopied) await initializeDatabase(databaseUrl, adminKey);
    if (options.hasRateLimit !== true) await queryDatabase(databaseUrl, "UPDATE api_keys SET rate_limit = 0");
    composition = await compose({});
  } catch (error) {
    await removeGround();
    throw error;
  }
  return {
    get composition() {
      return composition;
    },
    databaseUrl,
    adminKey,
    store,
    async restart(further) {
      await composition.stop();
      composition = await compose(further);
    },
    async stop() {
      try {
        await composition.stop();
      } finally {
        await removeGround();
      }
    },
  };
}
