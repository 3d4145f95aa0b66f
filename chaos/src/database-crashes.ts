// PostgreSQL is stopped in immediate mode, which is a crash, while messages arrive.
import { randomFrom } from "@svc/testing";
import { chatNames, collectAll, sendUntilTaken, untilAnswered, readAnswers } from "./customer.ts";
import { pause, waitFor } from "./ground.ts";
import { judge, wasAskedTwice } from "./ledger.ts";
import type { Scenario } from "./ground.ts";

const CHATS = 32;
const BACK_WITHIN_MS = 2_000;

export const crashDatabase: Scenario<"kills" | "messages"> = {
  promise: "PostgreSQL crashes under load: nothing acknowledged is lost, a 2xx within 2 s after it is up",
  sizes: { full: { kills: 10, messages: 3_000 }, quick: { kills: 2, messages: 300 } },
  async run(chaos, { kills, messages }) {
    const { ground, ledger, seed, say } = chaos;
    const random = randomFrom(seed);
    const state = { hasCrashed: false };
    const taken = () => ledger.entries.filter(({ acknowledgedAt }) => acknowledgedAt !== null);
    const talk = async (chat: string, index: number) => {
      const randomOfChat = randomFrom(seed + index + 1);
      // Continues until the last crash is over, and at least for the requested number of messages.
      for (let position = 0; !state.hasCrashed || ledger.entries.length < messages; position++) {
        const mode = randomOfChat() < 0.3 ? "sync" : "async";
        await sendUntilTaken(chaos, {
          chat,
          place: position,
          mode,
          fields: { timeoutMs: 2_000 },
          replica: index + position,
        });
      }
    };
    const backAfter: number[] = [];
    const havoc = async () => {
      for (let crash = 1; crash <= kills; crash++) {
        await pause(1_000 + random() * 3_000);
        await ground.postgres.kill("SIGQUIT");
        await pause(random() * 3_000);
        await ground.postgres.start();
        const upAt = ledger.now();
        // A call that was sent before and waited does not show how soon one is accepted.
        const first = await waitFor(() => taken().find(({ triedAt }) => triedAt >= upAt), "a 2xx");
        const ms = (first.acknowledgedAt ?? 0) - upAt;
        backAfter.push(ms);
        say(`crash ${crash}: the first 2xx ${ms} ms after it is up, ${taken().length} messages taken`);
      }
      state.hasCrashed = true;
    };
    const chats = chatNames(CHATS);
    const endDrains = collectAll(chaos, chats);
    await Promise.all([havoc(), ...chats.map(talk)]);
    await untilAnswered(chaos, 180_000);
    await endDrains();
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
        ...(await readAnswers(chaos)),
      ],
    };
  },
};
