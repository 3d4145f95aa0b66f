// PostgreSQL is ended in immediate mode, which is a crash, while messages come in.
import { collect, sendUntilTaken } from "./customer.ts";
import { pause, randomOf, startGround, waitFor } from "./ground.ts";
import { createLedger, judge, wasAskedTwice } from "./ledger.ts";
import { readAnswers } from "./read-answers.ts";

const CHATS = 32;
const BACK_WITHIN_MS = 2_000;

export async function crashDatabase({ messages, kills, seed, say, ledgerFile }) {
  const random = await randomOf(seed);
  const randomOfChat = await Promise.all(Array.from({ length: CHATS }, (_, index) => randomOf(seed + index + 1)));
  const ground = await startGround();
  const ledger = createLedger();
  try {
    const state = { isOver: false, hasCrashed: false };
    const taken = () => ledger.entries.filter(({ acknowledgedAt }) => acknowledgedAt !== null);
    const talk = async (chat, index) => {
      // They go on until the last crash is over, and at least for as many as are asked for.
      for (let place = 0; !state.hasCrashed || ledger.entries.length < messages; place++) {
        const mode = randomOfChat[index]() < 0.3 ? "sync" : "async";
        await sendUntilTaken({
          ledger,
          ground,
          chat,
          place,
          mode,
          fields: { timeoutMs: 2_000 },
          replica: index + place,
        });
      }
    };
    const backAfter = [];
    const havoc = async () => {
      for (let crash = 1; crash <= kills; crash++) {
        await pause(1_000 + random() * 3_000);
        await ground.postgres.kill("SIGQUIT");
        await pause(random() * 3_000);
        await ground.postgres.start();
        const upAt = ledger.now();
        // A call that was sent before, and waited, says nothing of how soon one is taken.
        const first = await waitFor(() => taken().find(({ triedAt }) => triedAt >= upAt), "a 2xx");
        backAfter.push(first.acknowledgedAt - upAt);
        say(`crash ${crash}: the first 2xx ${backAfter.at(-1)} ms after it is up, ${taken().length} messages taken`);
      }
      state.hasCrashed = true;
    };
    const chats = Array.from({ length: CHATS }, (_, index) => `chat-${index}`);
    const drains = chats.map((chat, replica) => collect({ ledger, ground, chat, isOver: () => state.isOver, replica }));
    await Promise.all([havoc(), ...chats.map(talk)]);
    await waitFor(() => ledger.open().length === 0, "every message to be answered", 180_000).catch((error) =>
      say(error.message),
    );
    state.isOver = true;
    await Promise.all(drains);
    const slow = backAfter.filter((ms) => ms > BACK_WITHIN_MS);
    return {
      figures: {
        acknowledged: taken().length,
        crashes: kills,
        "first 2xx after at most": `${Math.max(...backAfter)} ms`,
        "same reply by the repeated call and by cursor": ledger.entries.filter(wasAskedTwice).length,
      },
      breaches: [
        ...slow.map((ms) => `the first 2xx came ${ms} ms after PostgreSQL was up`),
        ...judge(ledger, { mayRepeat: wasAskedTwice }),
        ...(await readAnswers(ground, ledger)),
      ],
    };
  } finally {
    ledger.write(ledgerFile);
    await ground.stop();
  }
}
