// Processes that get a few percent of a processor, and reads that stall, while nothing is killed.
import { collect, sendUntilTaken } from "./customer.ts";
import { pause, randomOf, rowsOf, startGround, startReceiver, waitFor } from "./ground.ts";
import { createLedger, judge, wasAskedTwice } from "./ledger.ts";
import { readAnswers } from "./read-answers.ts";

const CHATS = 40;
const SENT_WITHIN_MS = 3_000;
/** A process runs this long between two pauses: about 2 % of the time. */
const SLICE_MS = 60;
const PAUSE_MS = { from: 500, to: 1_200 };
/** One pause in so many lasts longer than the lease of a message, which is 4 s. */
const LONG_PAUSE = { every: 3, ms: 6_000 };
/** Each time, callbacks cannot be read for longer than a statement waits for a connection. */
const STALL_MS = 6_000;
const PATIENCE_MS = 900_000;

export async function starve({ messages, stalls, seed, say, ledgerFile }) {
  const ground = await startGround({ env: { SVC_WEBHOOK_ALLOW: "127.0.0.1" } });
  const receiver = await startReceiver({ answer: { status: 204 } });
  const ledger = createLedger();
  const state = { isOver: false, pauses: 0 };
  const starving = [];
  try {
    const randoms = await Promise.all(ground.composition.processes.map((_, index) => randomOf(seed + index)));
    /** Stops a process most of the time, as a scheduler without room does. */
    const starveOne = async ({ pid }, random) => {
      const { from, to } = PAUSE_MS;
      while (!state.isOver) {
        process.kill(pid, "SIGSTOP");
        try {
          await pause(random() < 1 / LONG_PAUSE.every ? LONG_PAUSE.ms : from + random() * (to - from));
        } finally {
          process.kill(pid, "SIGCONT");
        }
        state.pauses++;
        await pause(SLICE_MS);
      }
    };
    starving.push(...ground.composition.processes.map((one, index) => starveOne(one, randoms[index])));
    const chats = Array.from({ length: CHATS }, (_, index) => `chat-${index}`);
    /** A chat in four has callbacks. */
    const modeOf = (index) => ["sync", "async", "async", "webhook"][index % 4];
    const own = chats.filter((_, index) => modeOf(index) !== "webhook");
    let hasEnded = false;
    const drains = own.map((chat, replica) => collect({ ledger, ground, chat, isOver: () => hasEnded, replica }));
    const callbacks = [];
    const send = async (chat, index, place) => {
      await pause((SENT_WITHIN_MS * (place * CHATS + index)) / messages);
      const mode = modeOf(index);
      const fields = { timeoutMs: 60_000, ...(mode === "webhook" ? { webhookUrl: receiver.url("/hook") } : {}) };
      const { entry, answer } = await sendUntilTaken({ ledger, ground, chat, place, mode, fields, replica: index });
      if (mode === "webhook") callbacks.push({ entry, deliveryId: answer.body.deliveryId });
    };
    const talk = async (chat, index) => {
      for (let place = 0; place < messages / CHATS; place++) await send(chat, index, place);
    };
    const stall = async () => {
      for (let count = 0; count < stalls; count++) {
        await rowsOf(ground, `BEGIN; LOCK TABLE replies; SELECT pg_sleep(${STALL_MS / 1_000}); COMMIT`);
        await pause(STALL_MS / 3);
      }
    };
    await Promise.all([...chats.map(talk), stall()]);
    say(`${ledger.entries.length} messages are accepted; each process was paused ${state.pauses} times in all`);
    const unfinished = `SELECT (SELECT count(*) FROM messages WHERE state = 'received')
      + (SELECT count(*) FROM deliveries WHERE state = 'pending') AS count`;
    const isFinished = async () => Number((await rowsOf(ground, unfinished))[0].count) === 0;
    await waitFor(isFinished, "every message to be answered", PATIENCE_MS).catch((error) => say(error.message));
    state.isOver = true;
    await Promise.all(starving);
    for (const { json } of receiver.requests) {
      const { entry } = callbacks.find(({ deliveryId }) => deliveryId === json.deliveryId) ?? {};
      if (entry !== undefined && entry.answers.length === 0)
        ledger.show({ messageId: entry.messageId, replyId: json.deliveryId, seq: entry.place, by: "callback" });
    }
    const isAnswered = () => ledger.open().length === 0;
    await waitFor(isAnswered, "every answer to be shown", 60_000).catch((error) => say(error.message));
    hasEnded = true;
    await Promise.all(drains);
    const [counts] = await rowsOf(
      ground,
      `SELECT (SELECT count(*)::integer FROM messages WHERE expired_leases IS NOT NULL) AS lapsed,
         (SELECT count(*)::integer FROM processes WHERE told_at IS NOT NULL OR crashed_at IS NOT NULL) AS vanished`,
    );
    const twice = await rowsOf(ground, "SELECT id, attempts FROM messages WHERE attempts > 1");
    const failed = await rowsOf(ground, "SELECT id, tries FROM deliveries WHERE tries > 0 OR state <> 'delivered'");
    const attempts = await rowsOf(
      ground,
      `SELECT d.id, (SELECT count(*)::integer FROM delivery_attempts a WHERE a.delivery_id = d.id) AS count
       FROM deliveries d`,
    );
    const requestsOf = (id) => receiver.requests.filter(({ json }) => json.deliveryId === id).length;
    return {
      figures: {
        messages: ledger.entries.length,
        "pauses of processes": state.pauses,
        "messages whose lease expired": counts.lapsed,
        callbacks: callbacks.length,
        "requests for them": receiver.requests.length,
        "same reply by the repeated call and by cursor": ledger.entries.filter(wasAskedTwice).length,
      },
      breaches: [
        ...(counts.vanished === 0 ? [] : [`${counts.vanished} processes count as crashed, and none was`]),
        ...twice.map(({ id, attempts: count }) => `${count} attempts of ${id}, without an error or a crash`),
        ...failed.map(({ id, tries }) => `callback ${id} has ${tries} failures, and its receiver has none`),
        ...attempts
          .filter(({ id, count }) => count !== requestsOf(id))
          .map(({ id, count }) => `callback ${id} has ${count} attempts, and its receiver saw ${requestsOf(id)}`),
        ...judge(ledger, { mayRepeat: wasAskedTwice }),
        ...(await readAnswers(ground, ledger)),
      ],
    };
  } finally {
    state.isOver = true;
    await Promise.allSettled(starving);
    ledger.write(ledgerFile);
    await receiver.close();
    await ground.stop();
  }
}
