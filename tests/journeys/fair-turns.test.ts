import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Channel } from "@svc/contracts";
import { openQueues } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { Project } from "@svc/store";
import { createTestDatabase, createTestQueueBackend, testLog, waitFor, queryDatabase } from "@svc/testing";
import { acceptMessage } from "../../packages/channel-manager/src/index.ts";
import { addProject } from "./support/add-project.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FLOOD = 2_000;
const OTHERS = 5;
/** Answered messages after which both pipelines are busy with the flood. */
const BUSY_AFTER = 100;
/**
 * Messages of the flood that may be answered before another project's message: those in progress, and further ones while that
 * message is announced, fetched and processed. Without priorities it is the last one.
 */
const MOST_BEFORE = 1_200;
const DONE_WITHIN_MS = 60_000;

let product: Product;
let queues: Queues;

beforeAll(async () => {
  const database = await createTestDatabase();
  const { prefix, redisUrl, stop } = await createTestQueueBackend();
  queues = openQueues({ databaseUrl: database.url, redisUrl, prefix, log: testLog() });
  product = await startProduct({
    composition: "separate",
    ground: {
      databaseUrl: database.url,
      ...(redisUrl === undefined ? {} : { redisUrl }),
      prefix,
      async remove() {
        await queues.close();
        await stop();
        await database.drop();
      },
    },
  });
});

afterAll(() => product.stop());

const resolved = () => Promise.resolve();
const CHANNEL: Channel = {
  id: "api",
  start: resolved,
  stop: resolved,
  onMessage: () => undefined,
  sendMessage: resolved,
};

/** Accepts messages of a project like its channel, each in its own chat. */
async function accept(project: Project, count: number): Promise<void> {
  const resources = { store: product.store, queues, log: testLog() };
  const messages = Array.from({ length: count }, (_, index) =>
    acceptMessage(
      resources,
      CHANNEL,
      { channelId: "api", chatId: `chat-${index}`, text: "Hello?", timestamp: Date.now(), channelMeta: {} },
      { project: project.id, mode: "async" },
    ),
  );
  await Promise.all(messages);
}

const countAnswered = async () => {
  const [row] = await queryDatabase<{ count: number }>(
    product.databaseUrl,
    "SELECT count(*)::integer AS count FROM messages WHERE state <> 'received'",
  );
  return row?.count ?? 0;
};

test("a message of another project is answered before most of 2,000 messages that one project sends at once", async () => {
  const [flooding, other] = await Promise.all([
    addProject(product.store, "flooding", { fixedReply: "Answered." }),
    addProject(product.store, "other", { fixedReply: "Answered." }),
  ]);
  await accept(flooding, FLOOD);
  await waitFor(async () => (await countAnswered()) > BUSY_AFTER, {
    what: "the first answers",
    timeoutMs: DONE_WITHIN_MS,
  });
  await accept(other, OTHERS);
  await waitFor(async () => (await countAnswered()) === FLOOD + OTHERS, {
    what: "all messages to be answered",
    timeoutMs: DONE_WITHIN_MS,
  });
  const before = await queryDatabase<{ count: number }>(
    product.databaseUrl,
    `SELECT (SELECT count(*)::integer FROM messages f
       WHERE f.project_id = $1 AND f.finished_at BETWEEN o.created_at AND o.finished_at) AS count
     FROM messages o WHERE o.project_id = $2`,
    [flooding.id, other.id],
  );
  expect(before).toHaveLength(OTHERS);
  for (const { count } of before) expect(count).toBeLessThan(MOST_BEFORE);
});
