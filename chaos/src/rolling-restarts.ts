// Every process of every app is restarted, one after the other, under a steady load.
import { randomUUID } from "node:crypto";
import { toolCall } from "@svc/testing";
import type { FurtherApp } from "@svc/testing";
import { createAsker } from "./create-asker.ts";
import type { Asker } from "./create-asker.ts";
import { chatNames, collectAll, noteReplies, untilAnswered } from "./customer.ts";
import { pause } from "./ground.ts";
import { judge, wasAskedTwice } from "./ledger.ts";
import { readAnswers } from "./read-answers.ts";
import type { Chaos, Scenario } from "./scenario.ts";
import { withVisitors } from "./visitor.ts";
import type { Visitor } from "./visitor.ts";

const CHATS = 40;
const VISITORS = 10;
const APPS: readonly FurtherApp[] = ["widget", "messenger", "tool-server", "console"];
/** What of the load comes from visitors. */
const VISITORS_SHARE = 0.2;
/** One of this many messages of the API is a sync call. */
const SYNC_EACH = 5;
const SYNC_TIMEOUT_MS = 10_000;
/** Interval of the tool calls and console requests. */
const OTHERS_MS = 1_000;
/** Visitors' messages are acknowledged before they are answered, so on a slow machine many of them wait. */
const PATIENCE_MS = 900_000;

export const restartAll: Scenario<"rounds" | "perSecond"> = {
  promise: "every app is restarted, one process after the other, under load: no request fails but for clean retries",
  sizes: { full: { rounds: 10, perSecond: 100 }, quick: { rounds: 1, perSecond: 50 } },
  ground: { apps: APPS },
  run: (chaos, { rounds, perSecond }) =>
    withVisitors(chaos, VISITORS, async (visitors) => {
      const { ground, ledger, say } = chaos;
      const asker = createAsker();
      try {
        const headers = { authorization: `Bearer ${ground.key}` };
        const endDrains = collectAll(chaos, chatNames(CHATS), {
          ask: (path, turn) => asker.ask(ground.composition.apiUrls, turn, { name: "a drain", path, headers }),
        });
        const load = startLoad(chaos, asker, visitors, perSecond);
        const badEnds = await restartRounds(chaos, asker, rounds);
        await load.stop();
        say(`${ledger.open().length} messages wait for their answer`);
        await untilAnswered(chaos, PATIENCE_MS);
        await endDrains();
        const bySync = ledger.entries.filter(({ answers }) => answers.some(({ by }) => by === "call")).length;
        return {
          figures: {
            "processes restarted": rounds * ground.composition.processes.length,
            messages: ledger.entries.length,
            "of them answered in their call": bySync,
            "requests in all": asker.count(),
            "retries after a refusal, a 503, the end of a kept connection": Object.values(asker.retries).join(", "),
            "lines of visitors opened again": visitors.reduce((sum, { breaks }) => sum + breaks, 0),
            "same reply by the repeated call and by cursor": ledger.entries.filter(wasAskedTwice).length,
          },
          breaches: [
            ...asker.failures,
            ...visitors.flatMap(({ failures }) => failures),
            ...badEnds,
            ...judge(ledger, { mayRepeat: wasAskedTwice }),
            ...(await readAnswers(chaos)),
          ],
        };
      } finally {
        asker.close();
      }
    }),
};

/** Restarts every process, in this many rounds. Returns those that did not exit cleanly, in words. */
async function restartRounds({ ground, ledger, say }: Chaos, { retries, failures }: Asker, rounds: number) {
  const badEnds: string[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const process of ground.composition.processes) {
      const { code, signal } = await process.kill("SIGTERM");
      if (code !== 0) badEnds.push(`${process.name} ended with ${code ?? signal}`);
      await process.start();
    }
    const last = failures.length === 0 ? "" : `, the last: ${failures.at(-1)}`;
    say(
      `round ${round} of ${rounds}: ${ledger.entries.length} messages, retries ${JSON.stringify(retries)}, ${failures.length} failures${last}`,
    );
  }
  return badEnds;
}

/** Sends messages, tool calls and requests to the console until it is stopped. */
function startLoad(chaos: Chaos, asker: Asker, visitors: readonly Visitor[], perSecond: number) {
  const { toolsUrls, consoleUrls } = chaos.ground.composition;
  const state = { isOver: false };
  const useOthers = async () => {
    for (let turn = 0; !state.isOver; turn++) {
      const { path, headers, body } = toolCall(chaos.ground.key, "svc_list_agents", {});
      await asker.ask(toolsUrls, turn, { name: "a tool call", method: "POST", path, headers, body });
      const accept = { accept: "text/html" };
      await asker.ask(consoleUrls, turn, { name: "a page of the console", path: "/", headers: accept });
      await pause(OTHERS_MS);
    }
  };
  /** Sends in a rhythm; a message of a chat waits for the one before. */
  const beat = async (senders: ((position: number) => Promise<unknown>)[], rate: number) => {
    const chats = senders.map((send) => ({ send, place: 0, last: Promise.resolve<unknown>(undefined) }));
    const startedAt = performance.now();
    for (let count = 0; !state.isOver; count++) {
      const at = startedAt + (count * 1_000) / rate;
      if (at > performance.now()) await pause(at - performance.now());
      const chat = chats[count % chats.length];
      if (chat === undefined) return;
      const position = chat.place++;
      // If the machine is too slow for the rhythm, messages that are not sent by the end are skipped.
      chat.last = chat.last.then(() => (state.isOver ? undefined : chat.send(position)));
    }
    await Promise.all(chats.map(({ last }) => last));
  };
  const calls = chatNames(CHATS).map(
    (chat, index) => (position: number) => sendOne(chaos, asker, { chat, place: position, index }),
  );
  const load = Promise.all([
    beat(calls, perSecond * (1 - VISITORS_SHARE)),
    beat(
      visitors.map((visitor) => (position) => visitor.send(position)),
      perSecond * VISITORS_SHARE,
    ),
    useOthers(),
  ]);
  return {
    async stop() {
      state.isOver = true;
      await load;
    },
  };
}

/** Sends a message and notes its answer. */
async function sendOne(
  { ground, ledger }: Chaos,
  asker: Asker,
  { chat, place: position, index }: { chat: string; place: number; index: number },
) {
  const turn = index + position;
  const mode = turn % SYNC_EACH === 0 ? "sync" : "async";
  const entry = ledger.send({ id: randomUUID(), channel: "api", chat, place: position, mode });
  const timeout = mode === "sync" ? { timeoutMs: SYNC_TIMEOUT_MS } : {};
  const answer = await asker.ask(ground.composition.apiUrls, turn, {
    name: `message ${entry.id}, ${mode}`,
    path: "/api/v1/messages",
    method: "POST",
    headers: {
      authorization: `Bearer ${ground.key}`,
      "content-type": "application/json",
      "idempotency-key": entry.id,
    },
    body: JSON.stringify({ text: `message ${position} of ${chat}`, chatId: chat, mode, ...timeout }),
    onRetry: () => ledger.tryAgain(entry),
  });
  if (answer === null) return;
  ledger.acknowledge(entry, answer.body.messageId);
  noteReplies(ledger, answer, "call");
}
