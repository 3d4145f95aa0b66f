// The connections to Redis and PostgreSQL become half-open at once: no data passes, and neither side gets an error.
import type { CompositionProcess, SilenceEnd } from "@svc/testing";
import { call, chatNames, collectAll, sendUntilTaken, untilAnswered, readAnswers } from "./customer.ts";
import { pause, processesOf, waitFor } from "./ground.ts";
import type { Ground, Chaos, Scenario } from "./ground.ts";
import { judge, wasAskedTwice } from "./ledger.ts";
import type { Ledger } from "./ledger.ts";
import { withVisitors } from "./visitor.ts";
import type { Visitor } from "./visitor.ts";

const CHATS = 8;
const BACK_WITHIN_MS = 10_000;
const BETWEEN_MS = 100;
const PROBE_MS = 500;
const PROBE = "probe-";

export const breakLines: Scenario<"cuts" | "silenceSeconds"> = {
  promise: "the lines to Redis and PostgreSQL go silent for 30 s: working again within 10 s, without a restart",
  sizes: { full: { cuts: 20, silenceSeconds: 30 }, quick: { cuts: 2, silenceSeconds: 30 } },
  ground: { apps: ["widget"], isSilenceable: true },
  run(chaos, { cuts, silenceSeconds }) {
    const { ground, ledger } = chaos;
    return withVisitors(chaos, ground.composition.widgetUrls.length, async (visitors) => {
      const pidsOf = () => ground.composition.processes.map(({ pid }) => pid).join();
      const pids = pidsOf();
      const state = { isOver: false };
      const talk = async (chat: string, index: number) => {
        for (let position = 0; !state.isOver; position++) {
          const mode = position % 2 === 0 ? "sync" : "async";
          await sendUntilTaken(chaos, {
            chat,
            place: position,
            mode,
            fields: { timeoutMs: 5_000 },
            replica: index + position,
          });
          await pause(BETWEEN_MS);
        }
      };
      const visit = async (visitor: Visitor) => {
        for (let position = 0; !state.isOver; position++) {
          await visitor.send(position);
          await pause(BETWEEN_MS);
        }
      };
      const chats = chatNames(CHATS);
      const endDrains = collectAll(chaos, chats);
      const talks = [...chats.map(talk), ...visitors.map(visit)];
      const backAfter: number[] = [];
      for (let cut = 0; cut < cuts; cut++) backAfter.push(await silence(chaos, visitors, cut, silenceSeconds));
      state.isOver = true;
      await Promise.all(talks);
      await untilAnswered(chaos);
      await endDrains();
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
          ...(await readAnswers(chaos, { isProbe: (chat) => chat.startsWith(PROBE) })),
        ],
      };
    });
  },
};

/**
 * Silences all connections for some seconds and returns the milliseconds until everything works again. Afterwards the
 * connections are alternately dropped, as by a firewall, and resumed.
 */
async function silence({ ground, ledger, say }: Chaos, visitors: readonly Visitor[], cut: number, seconds: number) {
  await pause(2_000);
  const end: SilenceEnd = cut % 2 === 0 ? "forgotten" : "resumed";
  for (const line of ground.lines) line.silence();
  await pause(seconds * 1_000);
  for (const line of ground.lines) line.restore(end);
  const restoredAt = performance.now();
  const times = await Promise.all([
    ...ground.composition.apiUrls.map((url) => untilAnswering(ground, url, `${PROBE}${cut}`)),
    ...ground.composition.processes.map(untilReady),
    ...processesOf(ground, "pipeline").map(untilFinishing),
    ...visitors.map((visitor) => untilReplied(ledger, visitor, ledger.now())),
  ]);
  const took = times.map((at) => Math.round(at - restoredAt));
  say(`silence ${cut + 1} (${end}): working again after ${took.join(", ")} ms`);
  return Math.max(...took);
}

/**
 * Resolves when a replica responds to a call with its reply, and reports that it is healthy. Calls follow each other
 * without waiting, and each may take as long as recovery may: on a busy machine a response takes more than a second
 * anyhow.
 */
async function untilAnswering({ key }: Ground, url: string, chatId: string) {
  let tried = 0;
  let isBack = false;
  const probe = async () => {
    const chat = `${chatId}-${new URL(url).port}-${tried++}`;
    const json = { text: "are you there?", chatId: chat, timeoutMs: BACK_WITHIN_MS };
    const answer = await call(`${url}/api/v1/messages`, { method: "POST", key, json, timeoutMs: BACK_WITHIN_MS });
    if (answer?.status !== 200) return;
    const health = await call(`${url}/api/v1/health`, { key, timeoutMs: 1_000 });
    isBack ||= health?.body.status === "pass";
  };
  const probes: Promise<void>[] = [];
  const timer = setInterval(() => probes.push(probe()), PROBE_MS);
  await waitFor(() => isBack, `${url} to work again`);
  const at = performance.now();
  clearInterval(timer);
  await Promise.all(probes);
  return at;
}

/** Resolves when a process reports that it is ready. */
async function untilReady({ name, metricsUrl }: CompositionProcess) {
  const isReady = async () => (await fetch(`${metricsUrl}/readyz`, { signal: AbortSignal.timeout(1_000) })).ok;
  await waitFor(isReady, `${name} to be ready`);
  return performance.now();
}

/** Resolves when a pipeline has finished one more message. */
async function untilFinishing({ name, metricsUrl }: CompositionProcess) {
  const before = await waitFor(async () => ({ finished: await readFinished(metricsUrl) }), `the figures of ${name}`);
  const hasFinished = async () => (await readFinished(metricsUrl)) > before.finished;
  await waitFor(hasFinished, `${name} to finish a message`);
  return performance.now();
}

/** Returns the number of messages that a pipeline has finished, with any outcome. */
async function readFinished(metricsUrl: string) {
  const answer = await fetch(`${metricsUrl}/metrics`, { signal: AbortSignal.timeout(1_000) });
  const counts = (await answer.text()).matchAll(/^svc_messages_finished_total\{[^}]*\} (\d+)/gm);
  return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
}

/** Resolves when a visitor has the reply to a message that was sent after this moment. */
async function untilReplied(ledger: Ledger, { visitorId }: Visitor, since: number) {
  const hasReply = () =>
    ledger.entries.some(({ chat, sentAt, answers }) => chat === visitorId && sentAt >= since && answers.length > 0);
  await waitFor(hasReply, "the widget to work again");
  return performance.now();
}
