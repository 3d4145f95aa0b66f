// Callbacks to receivers that behave in every bad way there is, at the same time.

import { memoryOf, startWebhookReceiver } from "@svc/testing";
import type { ReceiverAnswer, WebhookReceiver } from "@svc/testing";
import { call, readAnswers, sendUntilTaken } from "./customer.ts";
import { RECEIVED, countOf, pause, processesOf, rowsOf, waitFor } from "./ground.ts";
import type { Chaos, Ground, Scenario } from "./ground.ts";
import type { Entry } from "./ledger.ts";

const CHATS = 10;
const BAD_FOR_MS = 8_000;
/** The first three attempts are within 35 s plus jitter; a receiver that has recovered by then gets everything. */
const DELIVERED_WITHIN_MS = 240_000;
/** Maximum slowdown of the others by a tarpit, including noise. */
const SLOWER_AT_MOST = 2;
const NOISE_MS = 500;

const OK = { status: 204 };
/** Response of each receiver to a request, `ageMs` after the first message, by its `index`. */
const MANNERS: Record<Name, (arrival: Arrival) => ReceiverAnswer> = {
  healthy: () => OK,
  down: () => OK,
  slow: () => ({ status: 204, delayMs: 1_000 }),
  failing: ({ ageMs }) => (ageMs < BAD_FOR_MS ? { status: 500 } : OK),
  flapping: ({ ageMs, index }) => (ageMs < BAD_FOR_MS && index % 2 === 0 ? "cut" : OK),
  tarpit: () => "hang",
};
type Name = "healthy" | "down" | "slow" | "failing" | "flapping" | "tarpit";
const NAMES = Object.keys(MANNERS) as Name[];

interface Arrival {
  ageMs: number;
  index: number;
}

/** A message whose callback is awaited. */
interface Sent {
  entry: Entry;
  deliveryId: string;
  at: number;
}

/** One receiver of a round and what was sent for it. */
interface Target {
  name: Name;
  receiver: WebhookReceiver;
  sent: Sent[];
}

const percentile = (values: number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? NaN;

/** Returns the id of the delivery that a callback is of. */
export const deliveryOf = (json: unknown) => (json as { deliveryId: string }).deliveryId;

export const breakReceivers: Scenario<"messages"> = {
  promise: "receivers are down, slow, failing, flapping, or never answer: callbacks come, in the order of their chat",
  sizes: { full: { messages: 600 }, quick: { messages: 120 } },
  // Receivers of the scenario are on this machine, where callbacks do not go by default.
  ground: { env: { SVC_WEBHOOK_ALLOW: "127.0.0.1" } },
  async run(chaos, { messages }) {
    const perChat = Math.ceil(Math.ceil(messages / NAMES.length) / CHATS);
    const alone = await runRound(chaos, "alone", ["healthy"], perChat);
    const beside = await runRound(chaos, "beside a tarpit", ["healthy", "tarpit"], perChat);
    const all = await runRound(chaos, "all", NAMES, perChat);
    const rounds = [alone, beside, all];
    const breaches = [...rounds.flatMap((round) => round.breaches), ...(await readAnswers(chaos))];
    if (beside.p95 > alone.p95 * SLOWER_AT_MOST + NOISE_MS)
      breaches.push(`a tarpit slows the others: p95 ${alone.p95} ms alone, ${beside.p95} ms beside it`);
    return {
      figures: {
        callbacks: rounds.reduce((sum, { callbacks }) => sum + callbacks, 0),
        "p95 of a healthy receiver alone, beside a tarpit, beside all": `${alone.p95}, ${beside.p95}, ${all.p95} ms`,
      },
      breaches,
    };
  },
};

/** Has callbacks sent to receivers of these names, all at once, and checks what each has got. */
async function runRound(chaos: Chaos, round: string, names: readonly Name[], perChat: number) {
  const startedAt = performance.now();
  const targets: Target[] = [];
  try {
    for (const name of names) {
      const answer = (_request: unknown, index: number) =>
        MANNERS[name]({ ageMs: performance.now() - startedAt, index });
      targets.push({ name, receiver: await startWebhookReceiver({ answer }), sent: [] });
    }
    const down = targets.find(({ name }) => name === "down");
    await down?.receiver.close();
    const reopen = async (target: Target) => {
      await pause(BAD_FOR_MS);
      target.receiver = await startWebhookReceiver({ port: target.receiver.port });
    };
    await Promise.all([
      ...targets.map((target) => sendAll(chaos, target, round, perChat)),
      ...(down === undefined ? [] : [reopen(down)]),
    ]);
    chaos.say(`${round}: the messages are sent`);
    const breaches: string[] = [];
    for (const target of targets.filter(({ name }) => name !== "tarpit"))
      breaches.push(...(await checkTarget(chaos, target, round, startedAt)));
    const callbacks = targets.reduce((sum, { sent }) => sum + sent.length, 0);
    return { breaches, p95: healthyP95(targets), callbacks };
  } finally {
    for (const { receiver } of targets) await receiver.close();
  }
}

async function sendAll(chaos: Chaos, { name, receiver, sent }: Target, round: string, perChat: number) {
  const webhookUrl = receiver.url("/hook");
  const talk = async (index: number) => {
    const chat = `${round}-${name}-${index}`;
    for (let position = 0; position < perChat; position++) {
      const fields = { webhookUrl, timeoutMs: 120_000, meta: { place: position } };
      const { entry, answer } = await sendUntilTaken(chaos, {
        chat,
        place: position,
        mode: "webhook",
        fields,
        replica: index,
      });
      sent.push({ entry, deliveryId: answer.body.deliveryId, at: Date.now() });
    }
  };
  await Promise.all(Array.from({ length: CHATS }, (_, index) => talk(index)));
}

/** Waits for the callbacks of a receiver, notes them, and returns what is wrong with them. */
async function checkTarget({ ledger, say }: Chaos, target: Target, round: string, startedAt: number) {
  const { name, receiver, sent } = target;
  const isComplete = () => {
    const taken = idsTaken(target, startedAt);
    return sent.every(({ deliveryId }) => taken.has(deliveryId));
  };
  await waitFor(isComplete, `every callback of ${name}`, DELIVERED_WITHIN_MS).catch((error: Error) =>
    say(error.message),
  );
  const breaches: string[] = [];
  const taken = idsTaken(target, startedAt);
  for (const { entry, deliveryId } of sent) {
    if (!taken.has(deliveryId)) breaches.push(`${name}: no callback ${deliveryId} of ${entry.chat}`);
    else if (entry.messageId !== null)
      ledger.show({ messageId: entry.messageId, replyId: deliveryId, seq: entry.place, by: "callback" });
  }
  breaches.push(...findDisorder(target));
  const known = new Set(sent.map(({ deliveryId }) => deliveryId));
  const unknown = receiver.requests.map(({ json }) => deliveryOf(json)).filter((id) => !known.has(id));
  breaches.push(...unknown.map((id) => `${name}: an id that nobody was told, ${id}`));
  say(`${round}, ${name}: ${sent.length} callbacks in ${receiver.requests.length} tries`);
  return breaches;
}

/** Returns in how many milliseconds the healthy receiver has its callbacks. */
function healthyP95(targets: readonly Target[]) {
  const times = targets
    .filter(({ name }) => name === "healthy")
    .flatMap(({ sent, receiver }) =>
      sent.map(({ deliveryId, at }) => {
        const first = receiver.requests.find(({ json }) => deliveryOf(json) === deliveryId);
        return (first?.receivedAtMs ?? Infinity) - at;
      }),
    );
  return Math.round(percentile(times, 0.95));
}

/** Returns the ids of the callbacks that a receiver has said yes to. */
function idsTaken({ name, receiver }: Target, startedAt: number): Set<string> {
  const beganAtMs = Date.now() - (performance.now() - startedAt);
  const taken = receiver.requests.filter(({ receivedAtMs }, index) => {
    const answer = MANNERS[name]({ ageMs: receivedAtMs - beganAtMs, index });
    return typeof answer !== "string" && answer.status === 204;
  });
  return new Set(taken.map(({ json }) => deliveryOf(json)));
}

/** Returns the callbacks of a chat that came first after a later one of the same chat, in words. */
function findDisorder({ name, sent, receiver }: Target): string[] {
  const entries = new Map(sent.map(({ deliveryId, entry }) => [deliveryId, entry]));
  const latest = new Map<string, number>();
  const breaches: string[] = [];
  for (const { json } of receiver.requests) {
    const entry = entries.get(deliveryOf(json));
    if (entry === undefined) continue;
    const { place: position, chat } = entry;
    if (position < (latest.get(chat) ?? 0))
      breaches.push(`${name}: message ${position} of ${chat} came after a later one`);
    latest.set(chat, Math.max(position, latest.get(chat) ?? 0));
  }
  return breaches;
}

// Replies that are never collected pile up: the api must not hold them in memory.

const MB = 1024 * 1024;
const GROWS_AT_MOST = 50 * MB;
const SENDERS = 32;
const BUFFER_CHATS = 1_000;
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
          const chat = `chat-${number % BUFFER_CHATS}`;
          await sendUntilTaken(chaos, { chat, place: Math.floor(number / BUFFER_CHATS), mode: "async" });
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
    const isPageFull = drained?.status === 200 && page === Math.min(PAGE, Math.ceil(replies / BUFFER_CHATS));
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
