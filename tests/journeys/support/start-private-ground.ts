import { migrateTestDatabase, readTestSettings, startPostgres, startRedis } from "@svc/testing";
import type { PrivatePostgres, PrivateRedis } from "@svc/testing";
import type { Ground } from "./start-product.ts";

/** Separate servers for a product, which a test can kill and restart. */
export interface PrivateGround extends Ground {
  readonly postgres: PrivatePostgres;
  /** Without persistence; null if the queues of this run are in Postgres. */
  readonly redis: PrivateRedis | null;
}

/** Starts a migrated Postgres, and a Redis if the queues of this run are on Redis. */
export async function startPrivateGround(): Promise<PrivateGround> {
  const postgres = await startPostgres();
  try {
    await migrateTestDatabase(postgres.url);
    const redis = readTestSettings().queueBackend === "redis" ? await startRedis() : null;
    return {
      postgres,
      redis,
      databaseUrl: postgres.url,
      ...(redis === null ? {} : { redisUrl: redis.url }),
      prefix: "svc-private",
      async remove() {
        await redis?.stop();
        await postgres.stop();
      },
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}
