// The lines to Redis and PostgreSQL go silent at once: nothing passes, and nobody is told that it does not.
import { collect, call, sendUntilTaken } from "./customer.ts";
import { pause, processesOf, startGround, waitFor } from "./ground.ts";
import { createLedger, judge, wasAskedTwice } from "./ledger.ts";
import { readAnswers } from "./read-answers.ts";
import { startVisitor } from "./visitor.ts";

const CHATS = 8;
const BACK_WITHIN_MS = 10_000;
const BETWEEN_MS = 100;
const PROBE_MS = 500;
const PROBE = "probe-";
/** Connections that a firewall has forgotten, and those that go on where they were, by turns. */
const ENDS = ["forgotten", "resumed"];

export async function breakLines({ cuts, silenceSeconds, say, ledgerFile }) {
  const ground = await startGround({ apps: ["widget"], silenceable: true });
  const ledger = createLedger();
  const visitors = ground.composition.widgetUrls.map((_, replica) => startVisitor({ ledger, ground, replica }));
  const pidsOf = () => ground.composition.processes.map(({ pid }) => pid).join();
  const pids = pidsOf();
  try {
    const state = { isOver: false, hasEnded: false };
    const talk = async (chat, index) => {
      for (let place = 0; !state.isOver; place++) {
        const mode = place % 2 === 0 ? "sync" : "async";
        await sendUntilTaken({
          ledger,
          ground,
          chat,
          place,
          mode,
          fields: { timeoutMs: 5_000 },
          replica: index + place,
        });
        await pause(BETWEEN_MS);
      }
    };
    const visit = async (visitor) => {
      for (let place = 0; !state.isOver; place++) {
        await visitor.send(place);
        await pause(BETWEEN_MS);
      }
    };
    const chats = Array.from({ length: CHATS }, (_, index) => `chat-${index}`);
    const drains = chats.map((chat, replica) =>
      collect({ ledger, ground, chat, isOver: () => state.hasEnded, replica }),
    );
    const talks = [...chats.map(talk), ...visitors.map(visit)];

    const backAfter = [];
    for (let cut = 0; cut < cuts; cut++) {
      await pause(2_000);
      const end = ENDS[cut % ENDS.length];
      for (const line of ground.lines) line.silence();
      await pause(silenceSeconds * 1_000);
      for (const line of ground.lines) line.restore(end);
      const restoredAt = performance.now();
      const took = await Promise.all([
        ...ground.composition.apiUrls.map((url) => untilAnswered(ground, url, `${PROBE}${cut}`)),
        ...ground.composition.processes.map(untilReady),
        ...processesOf(ground, "pipeline").map(untilFinishing),
        ...visitors.map((visitor) => untilHeard(ledger, visitor, ledger.now())),
      ]);
      backAfter.push(Math.round(Math.max(...took.map((at) => at - restoredAt))));
      say(
        `silence ${cut + 1} (${end}): working again after ${took.map((at) => Math.round(at - restoredAt)).join(", ")} ms`,
      );
    }
    state.isOver = true;
    await Promise.all(talks);
    await waitFor(() => ledger.open().length === 0, "every message to be answered").catch((error) =>
      say(error.message),
    );
    state.hasEnded = true;
    await Promise.all(drains);
    const slow = backAfter.filter((ms) => ms > BACK_WITHIN_MS);
    return {
      figures: {
        silences: cuts,
        messages: ledger.entries.length,
        "working again after at most": `${Math.max(...backAfter)} ms`,
        "same reply by the repeated call and by cursor": ledger.entries.filter(wasAskedTwice).length,
      },
      breaches: [
        ...visitors.flatMap(({ failures }) => failures),
        ...slow.map((ms) => `it took ${ms} ms to work again`),
        ...(pidsOf() === pids ? [] : ["a process was restarted"]),
        ...judge(ledger, { mayRepeat: wasAskedTwice }),
        ...(await readAnswers(ground, ledger, { isProbe: (chat) => chat.startsWith(PROBE) })),
      ],
    };
  } finally {
    ledger.write(ledgerFile);
    for (const visitor of visitors) visitor.close();
    await ground.stop();
  }
}

/**
 * When a replica answers a call with its reply, and says that it is well. Calls follow each other without waiting, and each
 * waits for as long as it may take to work again: on a busy machine the answer to a call takes more than a second anyhow.
 */
async function untilAnswered({ key }, url, chatId) {
  let tried = 0;
  let isBack = false;
  const probe = async () => {
    const json = {
      text: "are you there?",
      chatId: `${chatId}-${new URL(url).port}-${tried++}`,
      timeoutMs: BACK_WITHIN_MS,
    };
    const answer = await call(`${url}/api/v1/messages`, { method: "POST", key, json, timeoutMs: BACK_WITHIN_MS });
    if (answer?.status !== 200) return;
    const health = await call(`${url}/api/v1/health`, { key, timeoutMs: 1_000 });
    isBack ||= health?.body.status === "pass";
  };
  const probes = [];
  const timer = setInterval(() => probes.push(probe()), PROBE_MS);
  await waitFor(() => isBack, `${url} to work again`);
  const at = performance.now();
  clearInterval(timer);
  await Promise.all(probes);
  return at;
}

/** When a process says that it can do its work. */
async function untilReady({ name, metricsUrl }) {
  const isReady = async () => (await fetch(`${metricsUrl}/readyz`, { signal: AbortSignal.timeout(1_000) })).ok;
  await waitFor(isReady, `${name} to be ready`);
  return performance.now();
}

/** When a pipeline has finished one more message. */
async function untilFinishing({ name, metricsUrl }) {
  const before = await waitFor(async () => ({ finished: await readFinished(metricsUrl) }), `the figures of ${name}`);
  const hasFinished = async () => (await readFinished(metricsUrl)) > before.finished;
  await waitFor(hasFinished, `${name} to finish a message`);
  return performance.now();
}

/** Messages that a pipeline has finished, whatever came of them. */
async function readFinished(metricsUrl) {
  const answer = await fetch(`${metricsUrl}/metrics`, { signal: AbortSignal.timeout(1_000) });
  const counts = (await answer.text()).matchAll(/^svc_messages_finished_total\{[^}]*\} (\d+)/gm);
  return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
}

/** When a visitor has the reply to a message that was sent after this moment. */
async function untilHeard(ledger, { visitorId }, since) {
  const isHeard = ({ chat, sentAt, answers }) => chat === visitorId && sentAt >= since && answers.length > 0;
  await waitFor(() => ledger.entries.some(isHeard), "the widget to work again");
  return performance.now();
}
