import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { loadConfig, migrateAll, openResources } from "@svc/runtime";
import {
  createTestDatabase,
  findPgBouncer,
  findRedisServer,
  startPgBouncer,
  startRedis,
  startWebhookReceiver,
  testLog,
  waitFor,
  queryDatabase,
} from "@svc/testing";
import type { TestDatabase, WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { createApiClient } from "./support/create-api-client.ts";
import { createReviewClient } from "./support/create-review-client.ts";
import { SECRET_KEY, startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const isInstalled = (await findPgBouncer()) !== null;
const hasRedis = (await findRedisServer()) !== null;
const POOLED = "behind a PgBouncer (skipped if pgbouncer is not installed)";

const REPLY = "We open at nine.";

/**
 * Ways to run behind a pooler. `installed-postgres.test.ts` has another one: transaction mode with queues on
 * PostgreSQL.
 */
const WAYS = [
  { mode: "session", queues: "postgres", hasDirectUrl: false },
  { mode: "transaction", queues: "redis", hasDirectUrl: true },
] as const;

(isInstalled ? describe : describe.skip).each(WAYS.filter(({ queues }) => queues === "postgres" || hasRedis))(
  `${POOLED} in $mode mode, with queues on $queues`,
  ({ mode, queues, hasDirectUrl }) => {
    let product: Product;
    let receiver: WebhookReceiver;

    beforeAll(async () => {
      receiver = await startWebhookReceiver();
      const database = await createTestDatabase();
      // Small enough that transactions of several pools share connections; in session mode each session has its own.
      const size = mode === "session" ? "80" : "5";
      const pooler = await startPgBouncer(database.url, { pool_mode: mode, default_pool_size: size });
      const redis = queues === "redis" ? await startRedis() : null;
      product = await startProduct({
        composition: "standalone",
        env: hasDirectUrl ? { DATABASE_DIRECT_URL: database.url } : {},
        ground: {
          databaseUrl: pooler.url,
          ...(redis === null ? {} : { redisUrl: redis.url }),
          prefix: "svc-pooled",
          async remove() {
            await redis?.stop();
            await pooler.stop();
            await database.drop();
          },
        },
      });
      await addProject(product.store, "auto", { fixedReply: REPLY });
      await addProject(product.store, "held", { fixedReply: REPLY, reviewPolicy: "review" });
    });

    afterAll(async () => {
      await product?.stop();
      await receiver?.close();
    });

    test("answers sync, async and webhook messages, many of them concurrently", async () => {
      const api = createApiClient(product);
      const sync = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          api.send("auto", { text: "When do you open?", chatId: `sync-${index}` }),
        ),
      );
      expect(sync.map(({ texts }) => texts)).toEqual(sync.map(() => [REPLY]));
      await api.send("auto", { text: "When do you open?", chatId: "async", mode: "async" });
      const drain = async () => {
        const { texts } = await api.drain("auto", "async", "?wait=5000");
        return texts.length > 0 && texts;
      };
      expect(await waitFor(drain, { what: "the reply to the async message" })).toEqual([REPLY]);
      await api.send("auto", { text: "When do you open?", chatId: "webhook", webhookUrl: receiver.url() });
      expect((await receiver.next()).json).toMatchObject({ chatId: "webhook", replies: [{ text: REPLY }] });
    });

    test("an operator's decision is carried out", async () => {
      const reviews = createReviewClient(product, "held");
      const { chatId, ticketId, ticket } = await reviews.heldChat();
      const decided = await reviews.decide(ticketId, "approve", { ifMatch: ticket.version });
      expect(decided.status).toBe(200);
      expect((await reviews.drained(chatId)).texts).toContain(REPLY);
    });
  },
);

(isInstalled ? describe : describe.skip)(`${POOLED}, a start`, () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  afterAll(() => database?.drop());

  test("in transaction mode without a direct URL names the missing setting: for migrations, and for queues on PostgreSQL", async () => {
    const pooler = await startPgBouncer(database.url, { pool_mode: "transaction" });
    try {
      const words = /transaction mode. Set DATABASE_DIRECT_URL/;
      await expect(migrateAll(pooler.url, testLog())).rejects.toThrow(words);
      const config = loadConfig({ DATABASE_URL: pooler.url, SVC_SECRET_KEY: SECRET_KEY });
      await expect(openResources(config, { app: "test", log: testLog() })).rejects.toThrow(words);
    } finally {
      await pooler.stop();
    }
  });

  test("in session mode migrates an empty database", async () => {
    await queryDatabase(database.url, "DROP SCHEMA public CASCADE; CREATE SCHEMA public; DROP SCHEMA bullmq CASCADE");
    const pooler = await startPgBouncer(database.url, { pool_mode: "session" });
    try {
      await migrateAll(pooler.url, testLog());
      expect(await queryDatabase(pooler.url, "SELECT FROM messages")).toEqual([]);
      expect(await queryDatabase(pooler.url, "SELECT FROM bullmq.job")).toEqual([]);
    } finally {
      await pooler.stop();
    }
  });
});
