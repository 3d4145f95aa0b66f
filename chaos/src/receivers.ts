// Callbacks to receivers that behave in every bad way there is, at the same time.
import { sendUntilTaken } from "./customer.ts";
import { pause, startGround, startReceiver, waitFor } from "./ground.ts";
import { createLedger } from "./ledger.ts";
import { readAnswers } from "./read-answers.ts";

const CHATS = 10;
const BAD_FOR_MS = 8_000;
/** The first three tries come within 35 s and some jitter; a receiver that is well again by then has everything. */
const DELIVERED_WITHIN_MS = 240_000;
/** A tarpit beside them may make the others at most so much slower, and this much is within the noise. */
const SLOWER_AT_MOST = 2;
const NOISE_MS = 500;

const OK = { status: 204 };
/** What each receiver does with a request, `ageMs` after the first message, and with its `index`. */
const MANNERS = {
  healthy: () => OK,
  down: () => OK,
  slow: () => ({ status: 204, delayMs: 1_000 }),
  failing: ({ ageMs }) => (ageMs < BAD_FOR_MS ? { status: 500 } : OK),
  flapping: ({ ageMs, index }) => (ageMs < BAD_FOR_MS && index % 2 === 0 ? "cut" : OK),
  tarpit: () => "hang",
};

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? NaN;

export async function breakReceivers({ messages, say, ledgerFile }) {
  // Receivers of the chaos are on this machine, where callbacks do not go by default.
  const ground = await startGround({ env: { SVC_WEBHOOK_ALLOW: "127.0.0.1" } });
  const ledger = createLedger();
  const open = [];
  try {
    const each = Math.ceil(messages / Object.keys(MANNERS).length);
    const run = async (names, round) => {
      const startedAt = performance.now();
      const receivers = {};
      for (const name of names) {
        const answer = (_request, index) => MANNERS[name]({ ageMs: performance.now() - startedAt, index });
        receivers[name] = await startReceiver({ answer });
        open.push(receivers[name]);
      }
      if (receivers.down !== undefined) await receivers.down.close();
      const sent = {};
      const reopen = async () => {
        await pause(BAD_FOR_MS);
        const earlier = receivers.down;
        receivers.down = await startReceiver({ port: earlier.port });
        open.push(receivers.down);
      };
      const sendAll = async (name) => {
        sent[name] = [];
        const url = `${receivers[name].url("/hook")}`;
        const talk = async (chat, index) => {
          for (let place = 0; place < Math.ceil(each / CHATS); place++) {
            const fields = { webhookUrl: url, timeoutMs: 120_000, meta: { place } };
            const options = { ledger, ground, chat, place, mode: "webhook", fields, replica: index };
            const { entry, answer } = await sendUntilTaken(options);
            sent[name].push({ entry, deliveryId: answer.body.deliveryId, at: Date.now(), place, chat });
          }
        };
        const chats = Array.from({ length: CHATS }, (_, index) => `${round}-${name}-${index}`);
        await Promise.all(chats.map(talk));
      };
      await Promise.all([...names.map(sendAll), ...(receivers.down === undefined ? [] : [reopen()])]);
      say(`${round}: the messages are sent`);
      const breaches = [];
      for (const name of names.filter((one) => one !== "tarpit")) {
        const good = () => idsTaken(name, receivers[name], startedAt);
        const isComplete = () => sent[name].every(({ deliveryId }) => good().has(deliveryId));
        await waitFor(isComplete, `every callback of ${name}`, DELIVERED_WITHIN_MS).catch((error) =>
          say(error.message),
        );
        const taken = good();
        for (const { entry, deliveryId } of sent[name]) {
          if (!taken.has(deliveryId)) breaches.push(`${name}: no callback ${deliveryId} of ${entry.chat}`);
          else ledger.show({ messageId: entry.messageId, replyId: deliveryId, seq: entry.place, by: "callback" });
        }
        breaches.push(...findDisorder(name, sent[name], receivers[name]));
        const unknown = receivers[name].requests.filter(
          ({ json }) => !sent[name].some(({ deliveryId }) => deliveryId === json.deliveryId),
        );
        breaches.push(...unknown.map(({ json }) => `${name}: an id that nobody was told, ${json.deliveryId}`));
        say(`${round}, ${name}: ${sent[name].length} callbacks in ${receivers[name].requests.length} tries`);
      }
      const times = sent.healthy.map(({ deliveryId, at }) => {
        const first = receivers.healthy.requests.find(({ json }) => json.deliveryId === deliveryId);
        return (first?.receivedAtMs ?? Infinity) - at;
      });
      return { breaches, p95: Math.round(percentile(times, 0.95)), sent };
    };

    const alone = await run(["healthy"], "alone");
    const beside = await run(["healthy", "tarpit"], "beside a tarpit");
    const all = await run(Object.keys(MANNERS), "all");
    const breaches = [alone, beside, all].flatMap((round) => round.breaches);
    breaches.push(...(await readAnswers(ground, ledger)));
    if (beside.p95 > alone.p95 * SLOWER_AT_MOST + NOISE_MS)
      breaches.push(`a tarpit slows the others: p95 ${alone.p95} ms alone, ${beside.p95} ms beside it`);
    const callbacks = [alone, beside, all].flatMap(({ sent }) => Object.values(sent).flat());
    return {
      figures: {
        callbacks: callbacks.length,
        "p95 of a healthy receiver alone, beside a tarpit, beside all": `${alone.p95}, ${beside.p95}, ${all.p95} ms`,
      },
      breaches,
    };
  } finally {
    ledger.write(ledgerFile);
    for (const receiver of open) await receiver.close();
    await ground.stop();
  }
}

/** The ids of the callbacks that a receiver has said yes to. */
function idsTaken(name, receiver, startedAt) {
  const beganAtMs = Date.now() - (performance.now() - startedAt);
  const isTaken = ({ receivedAtMs }, index) => {
    const answer = MANNERS[name]({ ageMs: receivedAtMs - beganAtMs, index });
    return answer !== "cut" && answer.status === 204;
  };
  return new Set(receiver.requests.filter(isTaken).map(({ json }) => json.deliveryId));
}

/** Callbacks of a chat that came first after a later one of the same chat. */
function findDisorder(name, sent, receiver) {
  const placeOf = new Map(sent.map(({ deliveryId, place, chat }) => [deliveryId, { place, chat }]));
  const latest = new Map();
  const breaches = [];
  for (const { json } of receiver.requests) {
    const { place, chat } = placeOf.get(json.deliveryId) ?? {};
    if (chat === undefined) continue;
    if (place < (latest.get(chat) ?? 0)) breaches.push(`${name}: message ${place} of ${chat} came after a later one`);
    latest.set(chat, Math.max(place, latest.get(chat) ?? 0));
  }
  return breaches;
}
