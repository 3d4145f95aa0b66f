import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ReplyItem } from "@svc/contracts";
import type { Project } from "@svc/store";
import { randomFrom, startCuttingProxy, waitFor, queryDatabase } from "@svc/testing";
import type { CuttingProxy } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { holdChat } from "./support/hold-chat.ts";
import { openRawCall } from "./support/open-raw-call.ts";
import { sendRaw } from "./support/send-raw.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const isSoak = process.env["SVC_SOAK"] === "1";
const SEED = Number(process.env["SVC_SEED"] ?? Math.floor(Math.random() * 1e9));
const CHATS = isSoak ? 1_000 : 40;
const MESSAGES_A_CHAT = 4;
/** Timeout of a test that goes through all chats. */
const TEST_TIMEOUT_MS = isSoak ? 600_000 : 240_000;
/** Number of concurrent customers. */
const CONCURRENCY = 20;
const CUT_SHARE = 0.2;
/**
 * A reply of some kilobytes: a connection can drop in the headers of a response as well as in the first or a later
 * reply.
 */
const REPLY = `This is always the answer. ${"0123456789abcdef".repeat(128)}`;
/** Approximate size of a response with two replies. */
const RESPONSE_BYTES = 2 * REPLY.length + 1_500;

let product: Product;
let api: ApiClient;
let project: Project;
let proxies: CuttingProxy[];

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  project = await addProject(product.store, "fixed", { fixedReply: REPLY });
  proxies = await Promise.all(product.composition.apiUrls.map(startCuttingProxy));
});

afterAll(async () => {
  await Promise.all(proxies.map((proxy) => proxy.close()));
  await product.stop();
});

/** Calls `work` for each of this many chats, a few of them concurrently. */
async function forEachChat(prefix: string, count: number, work: (chatId: string, chat: number) => Promise<void>) {
  let begun = 0;
  const worker = async () => {
    while (begun < count) {
      const chat = begun++;
      await work(`${prefix}-${chat}`, chat);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

const post = async (chatId: string, text = "hello") =>
  expect((await api.send("fixed", { text, chatId, mode: "async" })).status).toBe(202);

describe(`callers that acknowledge by cursor (SVC_SEED=${SEED})`, () => {
  const random = randomFrom(SEED);

  /** Drains on a new connection through a proxy; returns null if the connection dropped. */
  async function drainThroughProxy(chatId: string, query: string): Promise<ApiAnswer | null> {
    const proxy = proxies[Math.floor(random() * proxies.length)];
    try {
      const answer = await sendRaw(proxy?.url ?? "", {
        path: `/api/v1/messages/${chatId}${query}`,
        headers: [
          ["X-Api-Key", product.adminKey],
          ["x-svc-project", project.name],
        ],
      });
      expect(answer.status).toBe(200);
      return answer;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ECONNRESET") return null;
      throw error;
    }
  }

  /** Reads until there are this many replies, as docs/api.md says: a dropped call is repeated with the same cursor. */
  async function collect(chatId: string, count: number): Promise<ReplyItem[]> {
    const replies: ReplyItem[] = [];
    let cursor = "0";
    while (replies.length < count) {
      const page = await drainThroughProxy(chatId, `?after=${cursor}&wait=30000`);
      if (page === null) continue;
      replies.push(...page.replies);
      cursor = page.body.cursor ?? "";
    }
    // The call after the last page acknowledges it, and returns nothing more.
    let last = await drainThroughProxy(chatId, `?after=${cursor}`);
    while (last === null) last = await drainThroughProxy(chatId, `?after=${cursor}`);
    expect(last.replies).toEqual([]);
    return replies;
  }

  test(
    `lose and duplicate nothing when ${CUT_SHARE * 100} % of the responses are cut at random bytes`,
    async () => {
      for (const proxy of proxies) {
        proxy.cutWhen(() => (random() < CUT_SHARE ? Math.floor(random() * RESPONSE_BYTES) : null));
      }
      await forEachChat("cut", CHATS, async (chatId) => {
        const sending = (async () => {
          for (let sent = 0; sent < MESSAGES_A_CHAT; sent++) await post(chatId, `message ${sent}`);
        })();
        const [replies] = await Promise.all([collect(chatId, MESSAGES_A_CHAT), sending]);
        expect(replies.map((reply) => reply.type === "message" && reply.text === REPLY)).toEqual(
          replies.map(() => true),
        );
        expect(new Set(replies.map(({ id }) => id)).size).toBe(MESSAGES_A_CHAT);
        expect(new Set(replies.map(({ inReplyTo }) => inReplyTo)).size).toBe(MESSAGES_A_CHAT);
        const positions = replies.map(({ seq }) => seq);
        expect(positions).toEqual(positions.toSorted((a, b) => a - b));
      });
      const cuts = proxies.reduce((sum, proxy) => sum + proxy.cuts, 0);
      expect(cuts).toBeGreaterThan(CHATS / 10);
    },
    TEST_TIMEOUT_MS,
  );

  test("have received everything: every reply is delivered, and none is left", async () => {
    const [row] = await queryDatabase<{ replies: number; delivered: number }>(
      product.databaseUrl,
      `SELECT count(*)::integer AS replies, count(r.delivered_at)::integer AS delivered
       FROM replies r JOIN chats c USING (ticket_id) WHERE c.chat_id LIKE 'cut-%'`,
    );
    expect(row).toEqual({ replies: CHATS * MESSAGES_A_CHAT, delivered: CHATS * MESSAGES_A_CHAT });
  });
});

describe("plain readers that disconnect before their response is sent", () => {
  /** Starts a long poll and waits until the process has it, which responding to a later request shows. */
  async function beginPoll(chatId: string, replica: number) {
    const poll = await openRawCall(api.baseUrl(replica), {
      key: product.adminKey,
      project: project.name,
      path: `/api/v1/messages/${chatId}?wait=30000`,
    });
    await callApi(`${api.baseUrl(replica)}/healthz`);
    return poll;
  }

  /** Disconnects and waits until the process has noticed, which responding to a later request shows. */
  async function endPoll(poll: { hangUp(): void }, replica: number): Promise<void> {
    poll.hangUp();
    for (let asked = 0; asked < 2; asked++) await callApi(`${api.baseUrl(replica)}/healthz`);
  }

  async function expectOneReply(chatId: string, replica: number): Promise<void> {
    expect((await api.drain("fixed", chatId, "?wait=30000", { replica })).texts).toEqual([REPLY]);
    expect((await api.drain("fixed", chatId)).replies).toEqual([]);
  }

  test(
    "before a reply arrives lose nothing: the next reader gets it, on every replica",
    async () => {
      await forEachChat("waits-for-nothing", CHATS, async (chatId, chat) => {
        const poll = await beginPoll(chatId, chat);
        await endPoll(poll, chat);
        await post(chatId);
        await expectOneReply(chatId, chat + 1);
      });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "while their message is being answered lose nothing",
    async () => {
      await forEachChat("waits-for-answer", CHATS / 5, async (chatId, chat) => {
        const release = await holdChat(product.store, project, chatId);
        await post(chatId);
        const poll = await beginPoll(chatId, chat);
        await endPoll(poll, chat);
        await release();
        await expectOneReply(chatId, chat + 1);
      });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "do not withhold the reply from another waiting reader",
    async () => {
      await forEachChat("waits-beside", CHATS / 5, async (chatId, chat) => {
        const impatient = await Promise.all([beginPoll(chatId, chat), beginPoll(chatId, chat + 1)]);
        const patient = api.drain("fixed", chatId, "?wait=30000", { replica: chat });
        await Promise.all(impatient.map((poll, replica) => endPoll(poll, chat + replica)));
        await post(chatId);
        expect((await patient).texts).toEqual([REPLY]);
      });
    },
    TEST_TIMEOUT_MS,
  );
});

test("afterwards no reply is reserved", async () => {
  await waitFor(
    async () => {
      const [row] = await queryDatabase<{ held: string }>(
        product.databaseUrl,
        "SELECT count(*) AS held FROM replies WHERE taken_by IS NOT NULL OR delivered_at IS NULL",
      );
      return row?.held === "0";
    },
    { what: "every reply to be delivered and held by nobody" },
  );
});
