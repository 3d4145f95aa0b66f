import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { randomFrom, waitFor, queryDatabase } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const isSoak = process.env["SVC_SOAK"] === "1";
const SEED = Number(process.env["SVC_SEED"] ?? Math.floor(Math.random() * 1e9));
const CALLS = isSoak ? 2_000 : 80;
/** Maximum number of calls, while one side has not won once. */
const MAX_CALLS = 5 * CALLS;
/** Timeout of a test that goes through all calls. */
const TEST_TIMEOUT_MS = isSoak ? 600_000 : 240_000;
/** Number of concurrent calls. */
const CONCURRENCY = 10;
/** Largest difference between the timeouts and the duration of an answer. */
const SPREAD_MS = 5;
/** Fraction by which the target moves after each call, so that about half of the calls are answered in time. */
const STEP = 0.05;
const FIXED = "This is always the answer.";

let product: Product;
let api: ApiClient;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  await addProject(product.store, "fixed", { fixedReply: FIXED });
});

afterAll(() => product.stop());

/** Outcome of a call: its response, and the replies that its caller has received anywhere. */
interface Outcome {
  chatId: string;
  status: number;
  inResponse: string[];
  inDrain: string[];
}

/** Makes one call with a timeout, and drains immediately on another replica if the timeout came first. */
async function callAndDrain(chatId: string, timeoutMs: number, replica: number): Promise<Outcome> {
  const answer = await api.send("fixed", { text: "hello", chatId, timeoutMs }, { replica });
  const inResponse = answer.replies.map(({ id }) => id);
  const inDrain: string[] = [];
  if (answer.status !== 200) {
    expect(answer).toMatchObject({ status: 202, body: { status: "pending", timedOut: true, replies: [] } });
    const drained = await api.drain("fixed", chatId, "?wait=30000", { replica: replica + 1 });
    inDrain.push(...drained.replies.map(({ id }) => id));
  }
  return { chatId, status: answer.status, inResponse, inDrain };
}

/** Returns the median duration of an answer with as many concurrent calls as later. */
async function measureAnswerMs(): Promise<number> {
  const times: number[] = [];
  const caller = async (replica: number) => {
    for (let call = 0; call < 3; call++) {
      const begin = performance.now();
      expect((await api.send("fixed", { text: "hello" }, { replica })).status).toBe(200);
      times.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, (_, replica) => caller(replica)));
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

async function countUndelivered(): Promise<number> {
  const [row] = await queryDatabase<{ count: number }>(
    product.databaseUrl,
    `SELECT count(*)::integer AS count FROM replies r JOIN messages m ON m.id = r.in_reply_to
     WHERE r.delivered_at IS NULL OR r.taken_by IS NOT NULL OR m.call_ended_at IS NULL`,
  );
  return row?.count ?? Infinity;
}

describe(`at least ${CALLS} calls whose answer arrives when their timeout ends (SVC_SEED=${SEED})`, () => {
  const seen: Outcome[] = [];

  test(
    "get a reply in time or 202, and a late reply is in the drain",
    async () => {
      const random = randomFrom(SEED);
      let aimMs = await measureAnswerMs();
      let begun = 0;
      const hasWon = (status: number) => seen.some((call) => call.status === status);
      const isRace = () => hasWon(200) && hasWon(202);
      const caller = async () => {
        // On a machine that was busy before, the aim may be far too high at first.
        while (begun < CALLS || (!isRace() && begun < MAX_CALLS)) {
          const number = begun++;
          const timeoutMs = Math.max(1, Math.round(aimMs + (random() * 2 - 1) * SPREAD_MS));
          const call = await callAndDrain(`race-${number}`, timeoutMs, number);
          aimMs *= call.status === 200 ? 1 - STEP : 1 + STEP;
          seen.push(call);
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, caller));
      // It was a race: neither side has won it every time.
      expect([hasWon(200), hasWon(202)]).toEqual([true, true]);
    },
    TEST_TIMEOUT_MS,
  );

  test("have each reply in the response or in the drain, never in both or neither", async () => {
    const wrong = seen.filter(({ inResponse, inDrain }) => inResponse.length + inDrain.length !== 1);
    expect(wrong).toEqual([]);
    // Nothing is left that could be delivered again.
    const left = await Promise.all(
      seen.map(async ({ chatId }, index) => (await api.drain("fixed", chatId, "?after=0", { replica: index })).replies),
    );
    expect(left.flat()).toEqual([]);
  });

  test("are messages with one reply each, which was received and is recorded as delivered", async () => {
    const rows = await queryDatabase<{ chat_id: string; replies: string[] | null }>(
      product.databaseUrl,
      `SELECT c.chat_id, (SELECT array_agg(r.id) FROM replies r WHERE r.ticket_id = c.ticket_id) AS replies
       FROM chats c WHERE c.chat_id LIKE 'race-%'`,
    );
    const stored = new Map(rows.map(({ chat_id, replies }) => [chat_id, replies]));
    expect(stored.size).toBe(seen.length);
    for (const { chatId, inResponse, inDrain } of seen) expect(stored.get(chatId)).toEqual([...inResponse, ...inDrain]);
    // Recorded shortly after the response: unrecorded replies would be delivered again after a crash.
    await waitFor(async () => (await countUndelivered()) === 0, { what: "every reply to be noted as delivered" });
  });
});
