// Pipelines and Redis are killed while messages come in by the API and by the widget.

import { randomFrom, runRedisScript } from "@svc/testing";
import { chatNames, collectAll, readAnswers, sendUntilTaken, untilAnswered } from "./customer.ts";
import { pause, processesOf, waitFor } from "./ground.ts";
import type { Ground, Scenario } from "./ground.ts";
import { judge, wasAskedTwice } from "./ledger.ts";
import { withVisitors } from "./visitor.ts";
import type { Visitor } from "./visitor.ts";

const CHATS = 50;
const VISITORS = 50;
const GATE_MS = 20;

/** What is broken, and how. `random` chooses a victim. */
const ACTS = {
  pipeline: async (ground: Ground, random: () => number) => {
    const workers = processesOf(ground, "pipeline");
    const victim = workers[Math.floor(random() * workers.length)];
    await victim?.kill("SIGKILL");
    await victim?.start();
  },
  redis: async ({ redis }: Ground) => {
    await redis.kill();
    await pause(500);
    await redis.start();
  },
  /** Deletes all data of Redis while it runs. */
  wipe: async ({ redis }: Ground) => {
    await runRedisScript(redis.url, "redis.call('FLUSHALL') return 1", []);
  },
};

/** Returns the acts in a random order. */
function shuffleActs(kills: number, redisKills: number, random: () => number) {
  const pipelines = Array.from({ length: kills }, () => ACTS.pipeline);
  const redis = Array.from({ length: redisKills }, () => ACTS.redis);
  return [...pipelines, ...redis, ACTS.wipe]
    .map((act) => ({ act, order: random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ act }) => act);
}

export const killWorkers: Scenario<"messages" | "kills" | "redisKills"> = {
  promise: "pipelines are killed, Redis is killed and wiped: no message lost, answered twice or out of order",
  sizes: { full: { messages: 10_000, kills: 50, redisKills: 10 }, quick: { messages: 400, kills: 4, redisKills: 2 } },
  ground: { apps: ["widget"] },
  run: (chaos, { messages, kills, redisKills }) =>
    withVisitors(chaos, VISITORS, async (visitors) => {
      const { ground, ledger, seed, say } = chaos;
      const random = randomFrom(seed);
      const acts = shuffleActs(kills, redisKills, random);
      // Messages arrive during each outage, and none is sent before the kills are done.
      let begun = 0;
      const mayBeSent = () => Math.ceil((messages * (begun + 1)) / (acts.length + 1));
      const sent = () => ledger.entries.length;
      const gate = async () => {
        while (sent() >= mayBeSent()) await pause(GATE_MS);
      };
      const share = Math.floor(messages / (CHATS + VISITORS));
      const countOf = (index: number) => share + (index < messages % (CHATS + VISITORS) ? 1 : 0);
      const talk = async (chat: string, index: number) => {
        const randomOfChat = randomFrom(seed + index + 1);
        for (let position = 0; position < countOf(index); position++) {
          await gate();
          const mode = randomOfChat() < 0.5 ? "sync" : "async";
          await sendUntilTaken(chaos, { chat, place: position, mode, fields: { timeoutMs: 2_000 }, replica: position });
        }
      };
      const visit = async (visitor: Visitor, index: number) => {
        for (let position = 0; position < countOf(CHATS + index); position++) {
          await gate();
          await visitor.send(position);
        }
      };
      const havoc = async () => {
        for (const act of acts) {
          const enough = mayBeSent();
          await waitFor(() => sent() >= enough, `${enough} messages to be sent`);
          begun++;
          await act(ground, random);
          const open = ledger.open().length;
          if (begun % 5 === 0) say(`${begun} of ${acts.length} breaks, ${sent()} messages, ${open} open`);
        }
      };

      const chats = chatNames(CHATS);
      const endDrains = collectAll(chaos, chats);
      await Promise.all([havoc(), ...chats.map(talk), ...visitors.map(visit)]);
      say(`${sent()} messages are sent, ${ledger.open().length} are open`);
      await untilAnswered(chaos, 180_000);
      await endDrains();
      const failures = visitors.flatMap((visitor) => visitor.failures);
      const answered = ledger.entries.filter(({ answers }) => answers.length > 0).length;
      const killed = { "pipelines killed": kills, "Redis killed": redisKills, "Redis wiped": 1 };
      return {
        figures: { messages: sent(), answered, ...killed },
        breaches: [...failures, ...judge(ledger), ...(await readAnswers(chaos))],
      };
    }),
};

// PostgreSQL is stopped in immediate mode, which is a crash, while messages arrive.

const CRASH_CHATS = 32;
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
    const chats = chatNames(CRASH_CHATS);
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
