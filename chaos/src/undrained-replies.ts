// Replies that nobody collects pile up: the api must not hold them.
import { memoryOf } from "@svc/testing";
import { call, sendUntilTaken } from "./customer.ts";
import { pause, processesOf, rowsOf, startGround, waitFor } from "./ground.ts";
import { createLedger } from "./ledger.ts";
import { readAnswers } from "./read-answers.ts";

const MB = 1024 * 1024;
const GROWS_AT_MOST = 50 * MB;
const SENDERS = 32;
const CHATS = 1_000;
const WARM_UP = 2_000;
const SETTLE_MS = 10_000;
const STEP = 100_000;
/** What a drain gives at most. */
const PAGE = 100;

export async function leaveReplies({ replies, messages, say, ledgerFile }) {
  const ground = await startGround({ replicas: 1 });
  const ledger = createLedger();
  const [api] = processesOf(ground, "api");
  let sent = 0;
  const send = async (count) => {
    const end = sent + count;
    const lane = async () => {
      while (sent < end) {
        const number = sent++;
        const chat = `chat-${number % CHATS}`;
        await sendUntilTaken({ ledger, ground, chat, place: Math.floor(number / CHATS), mode: "async" });
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, lane));
    const waiting = "SELECT count(*)::integer AS count FROM messages WHERE state = 'received'";
    await waitFor(async () => (await rowsOf(ground, waiting))[0].count === 0, "every message to be answered", 600_000);
  };
  try {
    // What the process grows to by working at all is not what is measured.
    await send(WARM_UP);
    await pause(SETTLE_MS);
    const before = memoryOf(api.pid);
    say(`${WARM_UP} messages to begin with; the api has ${Math.round(before / MB)} MB`);
    await send(messages);
    // The others are put where replies wait, each like one that the product has made: the way there was measured above.
    for (let planted = sent; planted < replies; planted += STEP) {
      await plant(ground, Math.min(STEP, replies - planted));
      say(`${Math.min(replies, planted + STEP)} replies wait; the api has ${Math.round(memoryOf(api.pid) / MB)} MB`);
    }
    const [{ count }] = await rowsOf(
      ground,
      "SELECT count(*)::integer AS count FROM replies WHERE delivered_at IS NULL",
    );
    // It still works: a sync call, a drain of a chat with many of them.
    const [url] = ground.composition.apiUrls;
    const drained = await call(`${url}/api/v1/messages/chat-0?after=0`, { key: ground.key });
    await send(SENDERS);
    await pause(SETTLE_MS);
    const after = memoryOf(api.pid);
    const grown = after - before;
    return {
      figures: {
        "replies that wait": count,
        "of them by messages": sent,
        "memory of the api before and after": `${Math.round(before / MB)} MB, ${Math.round(after / MB)} MB`,
      },
      breaches: [
        ...(grown > GROWS_AT_MOST ? [`the api has grown by ${Math.round(grown / MB)} MB`] : []),
        ...(count >= replies ? [] : [`only ${count} replies wait`]),
        ...(drained?.status === 200 && drained.body.replies.length === Math.min(PAGE, Math.ceil(replies / CHATS))
          ? []
          : [`a drain was answered with ${drained?.status}: ${drained?.body.replies?.length} replies`]),
        ...(await readAnswers(ground, ledger)),
      ],
    };
  } finally {
    ledger.write(ledgerFile);
    await ground.stop();
  }
}

/** Puts so many replies, evenly, at the end of the chats that are there. */
async function plant(ground, count) {
  const [{ chats }] = await rowsOf(ground, "SELECT count(*)::integer AS chats FROM chats");
  const each = Math.ceil(count / chats);
  await rowsOf(
    ground,
    `INSERT INTO replies (id, project_id, ticket_id, seq, author, type, text, markdown)
     SELECT gen_random_uuid(), c.project_id, c.ticket_id, c.last_seq + n, 'agent', 'message', 'A reply that waits.', false
     FROM chats c CROSS JOIN generate_series(1, $1::integer) AS n`,
    [each],
  );
  await rowsOf(ground, "UPDATE chats SET last_seq = last_seq + $1", [each]);
}
