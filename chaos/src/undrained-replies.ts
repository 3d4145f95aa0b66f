// Replies that are never collected pile up: the api must not hold them in memory.
import { memoryOf } from "@svc/testing";
import { call, sendUntilTaken, readAnswers } from "./customer.ts";
import { RECEIVED, countOf, pause, processesOf, rowsOf, waitFor } from "./ground.ts";
import type { Ground, Scenario } from "./ground.ts";

const MB = 1024 * 1024;
const GROWS_AT_MOST = 50 * MB;
const SENDERS = 32;
const CHATS = 1_000;
const WARM_UP = 2_000;
const SETTLE_MS = 10_000;
const STEP = 100_000;
/** The most that a drain returns. */
const PAGE = 100;

const inMb = (bytes: number) => `${Math.round(bytes / MB)} MB`;

export const leaveReplies: Scenario<"replies" | "messages"> = {
  promise: "a million replies that nobody collects: the memory of the api grows by at most 50 MB",
  sizes: { full: { replies: 1_000_000, messages: 20_000 }, quick: { replies: 50_000, messages: 1_000 } },
  ground: { replicas: 1 },
  async run(chaos, { replies, messages }) {
    const { ground, say } = chaos;
    const [api] = processesOf(ground, "api");
    const memory = () => memoryOf(api?.pid ?? 0) ?? 0;
    let sent = 0;
    const send = async (count: number) => {
      const end = sent + count;
      const lane = async () => {
        while (sent < end) {
          const number = sent++;
          const chat = `chat-${number % CHATS}`;
          await sendUntilTaken(chaos, { chat, place: Math.floor(number / CHATS), mode: "async" });
        }
      };
      await Promise.all(Array.from({ length: SENDERS }, lane));
      const isDone = async () => (await countOf(ground, RECEIVED)) === 0;
      await waitFor(isDone, "every message to be answered", 600_000);
    };
    // Memory growth by ordinary work is excluded.
    await send(WARM_UP);
    await pause(SETTLE_MS);
    const before = memory();
    say(`${WARM_UP} messages to begin with; the api has ${inMb(before)}`);
    await send(messages);
    // The others are added where replies wait, each like one that the product has made: the way there was measured above.
    for (let planted = sent; planted < replies; planted += STEP) {
      await plant(ground, Math.min(STEP, replies - planted));
      say(`${Math.min(replies, planted + STEP)} replies wait; the api has ${inMb(memory())}`);
    }
    const count = await countOf(ground, "SELECT count(*) AS count FROM replies WHERE delivered_at IS NULL");
    // It still works: a sync call, a drain of a chat with many of them.
    const url = `${ground.composition.apiUrls[0]}/api/v1/messages/chat-0?after=0`;
    const drained = await call(url, { key: ground.key });
    await send(SENDERS);
    await pause(SETTLE_MS);
    const after = memory();
    const grown = after - before;
    const page = drained?.body.replies?.length;
    const isPageFull = drained?.status === 200 && page === Math.min(PAGE, Math.ceil(replies / CHATS));
    return {
      figures: {
        "replies that wait": count,
        "of them by messages": sent,
        "memory of the api before and after": `${inMb(before)}, ${inMb(after)}`,
      },
      breaches: [
        ...(grown > GROWS_AT_MOST ? [`the api has grown by ${inMb(grown)}`] : []),
        ...(count >= replies ? [] : [`only ${count} replies wait`]),
        ...(isPageFull ? [] : [`a drain was answered with ${drained?.status}: ${page} replies`]),
        ...(await readAnswers(chaos)),
      ],
    };
  },
};

/** Adds this many replies, evenly, at the end of the existing chats. */
async function plant(ground: Ground, count: number) {
  const each = Math.ceil(count / (await countOf(ground, "SELECT count(*) AS count FROM chats")));
  await rowsOf(
    ground,
    `INSERT INTO replies (id, project_id, ticket_id, seq, author, type, text, markdown)
     SELECT gen_random_uuid(), c.project_id, c.ticket_id, c.last_seq + n, 'agent', 'message', 'A reply that waits.', false
     FROM chats c CROSS JOIN generate_series(1, $1::integer) AS n`,
    [each],
  );
  await rowsOf(ground, "UPDATE chats SET last_seq = last_seq + $1", [each]);
}
