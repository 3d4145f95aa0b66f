// Processes with a few percent of a CPU, and stalled reads, without any kill.
import { randomFrom, startWebhookReceiver } from "@svc/testing";
import type { WebhookReceiver } from "@svc/testing";
import { chatNames, collectAll, sendUntilTaken, untilAnswered, readAnswers } from "./customer.ts";
import { countOf, pause, rowsOf, waitFor } from "./ground.ts";
import type { Ground, Chaos, Scenario } from "./ground.ts";
import { judge, wasAskedTwice } from "./ledger.ts";
import type { Entry, Mode } from "./ledger.ts";
import { deliveryOf } from "./receivers.ts";

const CHATS = 40;
const SENT_WITHIN_MS = 3_000;
/** A process runs this long between two pauses: about 2 % of the time. */
const SLICE_MS = 60;
const PAUSE_MS = { from: 500, to: 1_200 };
/** One of this many pauses is longer than the lease of a message, which is 4 s. */
const LONG_PAUSE = { every: 3, ms: 6_000 };
/** Each time, callbacks cannot be read for longer than a statement waits for a connection. */
const STALL_MS = 6_000;
const PATIENCE_MS = 900_000;
const UNFINISHED = `SELECT (SELECT count(*) FROM messages WHERE state = 'received')
  + (SELECT count(*) FROM deliveries WHERE state = 'pending') AS count`;

/** A chat in four has callbacks. */
const MODES: readonly Mode[] = ["sync", "async", "async", "webhook"];
const modeOf = (index: number): Mode => MODES[index % MODES.length] ?? "async";

/** A message whose answer comes by a callback. */
interface Callback {
  entry: Entry;
  deliveryId: string;
}

export const starve: Scenario<"messages" | "stalls"> = {
  promise: "processes get a few percent of a processor and reads stall: nothing counts as a crash or an attempt",
  sizes: { full: { messages: 80, stalls: 12 }, quick: { messages: 40, stalls: 2 } },
  ground: { env: { SVC_WEBHOOK_ALLOW: "127.0.0.1" } },
  async run(chaos, { messages, stalls }) {
    const { ground, ledger, say } = chaos;
    const receiver = await startWebhookReceiver({ answer: { status: 204 } });
    const starving = startStarving(chaos);
    try {
      const own = chatNames(CHATS).filter((_, index) => modeOf(index) !== "webhook");
      const endDrains = collectAll(chaos, own);
      const [callbacks] = await Promise.all([
        sendAll(chaos, { messages, webhookUrl: receiver.url("/hook") }),
        stall(ground, stalls),
      ]);
      say(`${ledger.entries.length} messages are accepted; each process was paused ${starving.pauses()} times in all`);
      const isFinished = async () => (await countOf(ground, UNFINISHED)) === 0;
      await waitFor(isFinished, "every message to be answered", PATIENCE_MS).catch((error: Error) =>
        say(error.message),
      );
      await starving.stop();
      for (const { json } of receiver.requests) {
        const deliveryId = deliveryOf(json);
        const { entry } = callbacks.find((callback) => callback.deliveryId === deliveryId) ?? {};
        if (entry !== undefined && entry.messageId !== null && entry.answers.length === 0)
          ledger.show({ messageId: entry.messageId, replyId: deliveryId, seq: entry.place, by: "callback" });
      }
      await untilAnswered(chaos, 60_000);
      await endDrains();
      const counts = await readCounts(ground);
      return {
        figures: {
          messages: ledger.entries.length,
          "pauses of processes": starving.pauses(),
          "messages whose lease expired": counts.lapsed,
          callbacks: callbacks.length,
          "requests for them": receiver.requests.length,
          "same reply by the repeated call and by cursor": ledger.entries.filter(wasAskedTwice).length,
        },
        breaches: [
          ...(counts.vanished === 0 ? [] : [`${counts.vanished} processes count as crashed, and none was`]),
          ...(await findCountedAttempts(ground, receiver)),
          ...judge(ledger, { mayRepeat: wasAskedTwice }),
          ...(await readAnswers(chaos)),
        ],
      };
    } finally {
      await starving.stop();
      await receiver.close();
    }
  },
};

/** Stops every process most of the time, as a scheduler without room does. */
function startStarving({ ground, seed }: Chaos) {
  const state = { isOver: false };
  let pauses = 0;
  const starveOne = async (pid: number, random: () => number) => {
    while (!state.isOver) {
      process.kill(pid, "SIGSTOP");
      try {
        const { from, to } = PAUSE_MS;
        await pause(random() < 1 / LONG_PAUSE.every ? LONG_PAUSE.ms : from + random() * (to - from));
      } finally {
        process.kill(pid, "SIGCONT");
      }
      pauses++;
      await pause(SLICE_MS);
    }
  };
  const ends = ground.composition.processes.map(({ pid }, index) => starveOne(pid, randomFrom(seed + index)));
  return {
    pauses: () => pauses,
    async stop() {
      state.isOver = true;
      await Promise.all(ends);
    },
  };
}

/** Sends the messages of all chats within a few seconds and returns those with callbacks. */
async function sendAll(chaos: Chaos, { messages, webhookUrl }: { messages: number; webhookUrl: string }) {
  const callbacks: Callback[] = [];
  const talk = async (chat: string, index: number) => {
    const mode = modeOf(index);
    const fields = { timeoutMs: 60_000, ...(mode === "webhook" ? { webhookUrl } : {}) };
    for (let position = 0; position < messages / CHATS; position++) {
      await pause((SENT_WITHIN_MS * (position * CHATS + index)) / messages);
      const { entry, answer } = await sendUntilTaken(chaos, { chat, place: position, mode, fields, replica: index });
      if (mode === "webhook") callbacks.push({ entry, deliveryId: answer.body.deliveryId });
    }
  };
  await Promise.all(chatNames(CHATS).map(talk));
  return callbacks;
}

async function stall(ground: Ground, stalls: number) {
  for (let count = 0; count < stalls; count++) {
    await rowsOf(ground, `BEGIN; LOCK TABLE replies; SELECT pg_sleep(${STALL_MS / 1_000}); COMMIT`);
    await pause(STALL_MS / 3);
  }
}

async function readCounts(ground: Ground) {
  const lapsed = "SELECT count(*) AS count FROM messages WHERE expired_leases IS NOT NULL";
  const vanished = "SELECT count(*) AS count FROM processes WHERE told_at IS NOT NULL OR crashed_at IS NOT NULL";
  return { lapsed: await countOf(ground, lapsed), vanished: await countOf(ground, vanished) };
}

/** Returns what was counted as an attempt or a failure although nothing failed, in words. */
async function findCountedAttempts(ground: Ground, receiver: WebhookReceiver): Promise<string[]> {
  const repeated = await rowsOf<{ id: string; attempts: number }>(
    ground,
    "SELECT id, attempts FROM messages WHERE attempts > 1",
  );
  const failed = await rowsOf<{ id: string; tries: number }>(
    ground,
    "SELECT id, tries FROM deliveries WHERE tries > 0 OR state <> 'delivered'",
  );
  const attempts = await rowsOf<{ id: string; count: number }>(
    ground,
    `SELECT d.id, (SELECT count(*)::integer FROM delivery_attempts a WHERE a.delivery_id = d.id) AS count
     FROM deliveries d`,
  );
  const requestsOf = (id: string) => receiver.requests.filter(({ json }) => deliveryOf(json) === id).length;
  return [
    ...repeated.map(({ id, attempts: count }) => `${count} attempts of ${id}, without an error or a crash`),
    ...failed.map(({ id, tries }) => `callback ${id} has ${tries} failures, and its receiver has none`),
    ...attempts
      .filter(({ id, count }) => count !== requestsOf(id))
      .map(({ id, count }) => `callback ${id} has ${count} attempts, and its receiver saw ${requestsOf(id)}`),
  ];
}
