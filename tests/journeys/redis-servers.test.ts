import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { createTestDatabase, findRedisServer, startWebhookReceiver, waitFor, queryDatabase } from "@svc/testing";
import type { WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { OTHER, createVisitorLines, say } from "./support/create-visitor-lines.ts";
import { startCluster, startSentinels, startTlsRedis } from "./support/start-redis-servers.ts";
import type { RedisServers } from "./support/start-redis-servers.ts";
import { startWidget } from "./support/start-widget.ts";
import type { WidgetProduct } from "./support/start-widget.ts";

const REPLY = "We open at nine.";
const TEXT = "When do you open?";
const LIMIT = 6;

const SERVERS: [string, () => Promise<RedisServers>][] = [
  ["a primary with a replica and Sentinels", startSentinels],
  ["a cluster of three nodes", startCluster],
  ["a server with TLS", startTlsRedis],
];

const hasRedis = (await findRedisServer()) !== null;

(hasRedis ? describe : describe.skip).each(SERVERS)("replicas of each app on %s", (_, start) => {
  let servers: RedisServers;
  let product: WidgetProduct;
  let api: ApiClient;
  let receiver: WebhookReceiver;
  const { socketIo, closeAll } = createVisitorLines(() => product.urls);

  beforeAll(async () => {
    const database = await createTestDatabase();
    servers = await start();
    receiver = await startWebhookReceiver();
    product = await startWidget({
      composition: "separate",
      hasRateLimit: true,
      ground: {
        databaseUrl: database.url,
        redisUrl: servers.url,
        prefix: "svc-servers",
        async remove() {
          await servers.stop();
          await database.drop();
        },
      },
    });
    await queryDatabase(product.databaseUrl, "UPDATE api_keys SET rate_limit = 0");
    api = createApiClient(product);
    await addProject(product.store, "auto", { fixedReply: REPLY });
  });

  afterEach(closeAll);

  afterAll(async () => {
    await product?.stop();
    await receiver?.close();
  });

  /** Sends an async message to one replica, and returns the texts from the drain of the other one. */
  async function sendAndDrain(chatId: string, text = TEXT): Promise<string[]> {
    await waitFor(async () => (await api.send("auto", { text, chatId, mode: "async" })).status === 202, {
      what: "the message to be accepted",
    });
    const drain = async () => {
      const { texts } = await api.drain("auto", chatId, "?wait=5000", { replica: 1 });
      return texts.length > 0 && texts;
    };
    return waitFor(drain, { what: `the reply in ${chatId}` });
  }

  test("sync, async and webhook messages are answered", async () => {
    expect((await api.send("auto", { text: TEXT, chatId: "sync" })).texts).toEqual([REPLY]);
    expect(await sendAndDrain("async")).toEqual([REPLY]);
    await api.send("auto", { text: TEXT, chatId: "webhook", webhookUrl: receiver.url() }, { replica: 1 });
    expect((await receiver.next()).json).toMatchObject({ chatId: "webhook", replies: [{ text: REPLY }] });
  });

  test("calls to all replicas count for one rate limit", async () => {
    const project = (await product.store.projects.findByName("auto"))?.id ?? null;
    const { key } = await issueKey(product.store, {
      name: "limited",
      scopes: ["messages:*"],
      project,
      createdBy: "test",
      rateLimit: LIMIT,
    });
    const statuses: number[] = [];
    for (let call = 0; call < LIMIT + 2; call++) {
      const json = { text: TEXT, mode: "async" };
      statuses.push((await callApi(`${api.baseUrl(call)}/api/v1/messages`, { key, json })).status);
    }
    expect(statuses).toEqual([...Array.from({ length: LIMIT }, () => 202), 429, 429]);
  });

  test("a visitor's sockets on two replicas get the reply immediately", async () => {
    const visitorId = randomUUID();
    const tabs = [0, OTHER].map((replica) => socketIo({ auth: { visitorId, sinceSeq: 0 }, replica }));
    for (const tab of tabs) await tab.next("ready");
    const [first] = tabs;
    if (first === undefined) throw new Error("there is no tab");
    const { messageId } = await say(first, TEXT);
    for (const tab of tabs) await tab.next("reply", ({ data }) => data.inReplyTo === messageId);
  });

  test("a failover during messages loses none and answers none twice", async () => {
    const progress = { isOver: false };
    // Only Sentinels fail over here.
    const failing = (servers.failOver?.() ?? Promise.resolve()).then(() => {
      progress.isOver = true;
    });
    const answers: Promise<string[]>[] = [];
    while (!progress.isOver || answers.length < 20) {
      answers.push(sendAndDrain(`failover-${answers.length}`));
      await answers.at(-4);
    }
    await failing;
    answers.push(sendAndDrain("after-failover"));
    expect(await Promise.all(answers)).toEqual(answers.map(() => [REPLY]));
    const twice = "SELECT FROM replies WHERE in_reply_to IS NOT NULL GROUP BY in_reply_to HAVING count(*) > 1";
    expect(await queryDatabase(product.databaseUrl, twice)).toEqual([]);
  });
});
