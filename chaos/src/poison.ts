// One message in a hundred crashes the process that works on it, like an error in native code.
import { randomFrom } from "@svc/testing";
import type { CompositionProcess } from "@svc/testing";
import { chatNames, collectAll, sendUntilTaken, readAnswers } from "./customer.ts";
import { RECEIVED, countOf, pause, processesOf, rowsOf, waitFor } from "./ground.ts";
import { judge } from "./ledger.ts";
import type { Entry } from "./ledger.ts";
import { POISON } from "./poison-mark.ts";
import type { Chaos, Scenario } from "./ground.ts";

const CHATS = 100;
const POISONED_SHARE = 0.01;
const PATIENCE_MS = 1_800_000;
const CHECK_MS = 100;
/** Starts in a row that fail for another reason than poison. */
const MAX_FAILED_STARTS = 10;

export const sendPoison: Scenario<"messages"> = {
  promise: "one message in a hundred aborts its process: it becomes a dead letter, every other one is answered",
  sizes: { full: { messages: 2_000 }, quick: { messages: 200 } },
  ground: { env: { NODE_OPTIONS: `--import=${new URL("abort-on-poison.js", import.meta.url).href}` } },
  async run(chaos, { messages }) {
    const { ground, ledger } = chaos;
    const manager = startManager(processesOf(ground, "pipeline"));
    try {
      const endDrains = collectAll(chaos, chatNames(CHATS));
      const poisoned = await sendAll(chaos, messages);
      const isPoison = ({ messageId }: Entry) => messageId !== null && poisoned.has(messageId);
      await untilSettled(chaos, isPoison, manager.aborts);
      await endDrains();
      const dead = await rowsOf<{ id: string }>(ground, "SELECT id FROM messages WHERE state = 'failed'");
      const deadIds = new Set(dead.map(({ id }) => id));
      const wrong = [
        ...[...poisoned].filter((id) => !deadIds.has(id)).map((id) => `poison is no dead letter: ${id}`),
        ...[...deadIds].filter((id) => !poisoned.has(id)).map((id) => `an innocent message is a dead letter: ${id}`),
      ];
      const others = { entries: ledger.entries.filter((entry) => !isPoison(entry)) };
      return {
        figures: {
          messages: ledger.entries.length,
          "dead letters": deadIds.size,
          "of them poison": poisoned.size,
          aborts: manager.aborts(),
        },
        breaches: [...wrong, ...judge(others), ...(await readAnswers(chaos, { mayFail: true }))],
      };
    } finally {
      await manager.stop();
    }
  },
};

/** Starts processes again that have ended, as a process manager does. */
function startManager(processes: readonly CompositionProcess[]) {
  let aborts = 0;
  const state = { isOver: false };
  const supervise = async (process: CompositionProcess) => {
    let failedStarts = 0;
    while (!state.isOver) {
      if (!isAlive(process.pid)) {
        aborts++;
        await process.kill();
        // It may abort before it is ready, and is started again.
        await process.start().then(
          () => {
            failedStarts = 0;
          },
          (error: unknown) => {
            if (++failedStarts === MAX_FAILED_STARTS) throw error;
          },
        );
      }
      await pause(CHECK_MS);
    }
  };
  const supervisors = processes.map(supervise);
  return {
    aborts: () => aborts,
    async stop() {
      state.isOver = true;
      await Promise.all(supervisors);
    },
  };
}

/** Sends the messages and returns the ids of the poison among them. */
async function sendAll(chaos: Chaos, messages: number): Promise<Set<string>> {
  const poisoned = new Set<string>();
  const talk = async (chat: string, index: number) => {
    const random = randomFrom(chaos.seed + index);
    for (let position = 0; position < Math.ceil(messages / CHATS); position++) {
      const isPoison = random() < POISONED_SHARE;
      const fields = isPoison ? { text: `${POISON} ${position} of ${chat}` } : {};
      const { answer } = await sendUntilTaken(chaos, { chat, place: position, mode: "async", fields, replica: index });
      if (isPoison) poisoned.add(answer.body.messageId);
    }
  };
  await Promise.all(chatNames(CHATS).map(talk));
  chaos.say(`${chaos.ledger.entries.length} messages are sent, ${poisoned.size} of them are poison`);
  return poisoned;
}

/** Waits until every message has its end, and every other one than poison its answer. */
async function untilSettled({ ground, ledger, say }: Chaos, isPoison: (entry: Entry) => boolean, aborts: () => number) {
  const timer = setInterval(
    () => say(`${aborts()} aborts, ${ledger.open().length} messages without an answer`),
    15_000,
  );
  const sayFailure = (error: Error) => say(error.message);
  const isSettled = async () => (await countOf(ground, RECEIVED)) === 0;
  await waitFor(isSettled, "every message to be settled", PATIENCE_MS).catch(sayFailure);
  clearInterval(timer);
  const isDrained = () => ledger.open().every(isPoison);
  await waitFor(isDrained, "every answer to be drained", 30_000).catch(sayFailure);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // It has exited.
    return false;
  }
}
