// One message in a hundred ends the process that works on it, at once, as a fault in native code does.
import { collect, sendUntilTaken } from "./customer.ts";
import { pause, processesOf, randomOf, rowsOf, startGround, waitFor } from "./ground.ts";
import { createLedger, judge } from "./ledger.ts";
import { POISON } from "./poison-mark.ts";
import { readAnswers } from "./read-answers.ts";

const CHATS = 100;
const POISONED_SHARE = 0.01;
const PATIENCE_MS = 1_800_000;
const LOOK_MS = 100;

export async function sendPoison({ messages, seed, say, ledgerFile }) {
  const randomOfChat = await Promise.all(Array.from({ length: CHATS }, (_, index) => randomOf(seed + index)));
  const preload = new URL("abort-on-poison.js", import.meta.url).href;
  const ground = await startGround({ env: { NODE_OPTIONS: `--import=${preload}` } });
  const ledger = createLedger();
  const state = { isOver: false };
  let aborts = 0;
  /** As a process manager does. */
  const supervise = async (process) => {
    while (!state.isOver) {
      if (!isAlive(process.pid)) {
        aborts++;
        await process.kill();
        await process.start();
      }
      await pause(LOOK_MS);
    }
  };
  const supervisors = processesOf(ground, "pipeline").map(supervise);
  try {
    const chats = Array.from({ length: CHATS }, (_, index) => `chat-${index}`);
    let hasEnded = false;
    const drains = chats.map((chat, replica) => collect({ ledger, ground, chat, isOver: () => hasEnded, replica }));
    const share = Math.ceil(messages / CHATS);
    const poisoned = new Set();
    const talk = async (chat, index) => {
      for (let place = 0; place < share; place++) {
        const isPoison = randomOfChat[index]() < POISONED_SHARE;
        const fields = isPoison ? { text: `${POISON} ${place} of ${chat}` } : {};
        const { entry } = await sendUntilTaken({ ledger, ground, chat, place, mode: "async", fields, replica: index });
        if (isPoison) poisoned.add(entry.messageId);
      }
    };
    await Promise.all(chats.map(talk));
    say(`${ledger.entries.length} messages are sent, ${poisoned.size} of them are poison`);
    const isSettled = async () => {
      const [{ count }] = await rowsOf(
        ground,
        "SELECT count(*)::integer AS count FROM messages WHERE state = 'received'",
      );
      return count === 0;
    };
    const teller = setInterval(
      () => say(`${aborts} aborts, ${ledger.open().length} messages without an answer`),
      15_000,
    );
    await waitFor(isSettled, "every message to be settled", PATIENCE_MS).catch((error) => say(error.message));
    clearInterval(teller);
    const innocent = () => ledger.open().filter(({ messageId }) => !poisoned.has(messageId));
    await waitFor(() => innocent().length === 0, "every answer to be drained", 30_000).catch((error) =>
      say(error.message),
    );
    hasEnded = true;
    await Promise.all(drains);
    const dead = await rowsOf(ground, "SELECT id FROM messages WHERE state = 'failed'");
    const deadIds = new Set(dead.map(({ id }) => id));
    const wrong = [
      ...[...poisoned].filter((id) => !deadIds.has(id)).map((id) => `poison is no dead letter: ${id}`),
      ...[...deadIds].filter((id) => !poisoned.has(id)).map((id) => `an innocent message is a dead letter: ${id}`),
    ];
    const isPoison = ({ messageId }) => poisoned.has(messageId);
    const others = { entries: ledger.entries.filter((entry) => !isPoison(entry)) };
    return {
      figures: {
        messages: ledger.entries.length,
        "dead letters": deadIds.size,
        "of them poison": poisoned.size,
        aborts,
      },
      breaches: [...wrong, ...judge(others), ...(await readAnswers(ground, ledger, { mayFail: true }))],
    };
  } finally {
    state.isOver = true;
    await Promise.all(supervisors);
    ledger.write(ledgerFile);
    await ground.stop();
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // It is gone.
    return false;
  }
}
