// Pipelines and Redis are killed while messages come in by the API and by the widget.

import { randomUUID } from "node:crypto";
import { randomFrom, runRedisScript } from "@svc/testing";
import type { CompositionProcess } from "@svc/testing";
import {
  call,
  chatNames,
  collect,
  collectAll,
  noteReplies,
  readAnswers,
  sendUntilTaken,
  untilAnswered,
} from "./customer.ts";
import { countOf, pause, processesOf, rowsOf, waitFor } from "./ground.ts";
import type { Chaos, Ground, Outcome, Scenario } from "./ground.ts";
import { judge, wasAskedTwice } from "./ledger.ts";
import type { Entry } from "./ledger.ts";
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

// One of two api replicas is killed while sync calls wait on it: once before any answer, once in the midst of them.

const TIMEOUT_MS = 120_000;
/**
 * A response sent this shortly before its process was killed may not be recorded as delivered: then it is in the drain
 * too. Recording takes some 20 ms, and more on a machine with a thousand calls to end.
 */
const NOTED_WITHIN_MS = 1_000;
/** Chats that are read at once. */
const LANES = 50;

/** One of the two rounds. */
interface Round {
  name: string;
  messages: number;
  killAfterAnswers: number;
}

/** What came of the calls of a round. */
interface RoundEnd {
  killedAt: number;
  answered: Entry[];
  figure: string;
}

export const killReplica: Scenario<"messages"> = {
  promise: "one of two api replicas is killed while calls wait: every answer can be had, none is shown twice",
  sizes: { full: { messages: 1_000 }, quick: { messages: 100 } },
  async run(chaos, { messages }) {
    const figures: Outcome["figures"] = {};
    /** Ids of messages whose first call was answered by the process that is killed, with the moment of the kill. */
    const left = new Map<string, number>();
    for (const [name, killAfterAnswers] of [["before", 0] as const, ["midst", Math.floor(messages / 3)] as const]) {
      const { killedAt, answered, figure } = await runRound(chaos, { name, messages, killAfterAnswers });
      for (const { id } of answered) left.set(id, killedAt);
      figures[`${name}: cut, repeated, drained`] = figure;
    }
    // A dead process sends nothing: responses to its calls, even if their customers read them a little later, were sent
    // before the kill.
    const ageOf = ({ id, answers: [first] }: Entry) => (left.get(id) ?? Infinity) - (first?.at ?? 0);
    const isUnnoted = (entry: Entry) =>
      entry.answers.map(({ by }) => by).join() === "call,drain" && ageOf(entry) < NOTED_WITHIN_MS;
    const repeats = chaos.ledger.entries.filter(isUnnoted);
    figures["given in the moment before the kill, and in the drain again"] = repeats.length;
    figures["the oldest of them before the kill"] = `${Math.max(0, ...repeats.map(ageOf))} ms`;
    return { figures, breaches: [...judge(chaos.ledger, { mayRepeat: isUnnoted }), ...(await readAnswers(chaos))] };
  },
};

const send = (url: string, key: string, { id, chat }: Entry) =>
  call(`${url}/api/v1/messages`, {
    method: "POST",
    key,
    headers: { "Idempotency-Key": id },
    json: { text: `hello from ${chat}`, chatId: chat, timeoutMs: TIMEOUT_MS },
    timeoutMs: TIMEOUT_MS,
  });

/** A kill interrupts waiting calls. Half of their customers repeat them, the others read the drain. */
async function runRound(chaos: Chaos, { name, messages, killAfterAnswers }: Round): Promise<RoundEnd> {
  const { ground, ledger, say } = chaos;
  const [dying = "", living = ""] = ground.composition.apiUrls;
  const pipelines = processesOf(ground, "pipeline");
  const victim = processesOf(ground, "api")[0] as CompositionProcess;
  const waiting = Array.from({ length: messages }, (_, index) =>
    ledger.send({ id: randomUUID(), channel: "api", chat: `${name}-${index}`, place: 0, mode: "sync" }),
  );
  await Promise.all(pipelines.map((pipeline) => pipeline.kill("SIGKILL")));
  const startPipelines = () => pipelines.map((pipeline) => pipeline.start());
  let answers = 0;
  const calls = waiting.map(async (entry) => {
    const answer = await send(dying, ground.key, entry);
    if (answer === null) return "cut";
    if (answer.status !== 200) throw new Error(`a call was answered with ${answer.status}`);
    answers++;
    ledger.acknowledge(entry, answer.body.messageId);
    noteReplies(ledger, answer, "call");
    return "answered";
  });
  const accepted = `SELECT count(*) AS count FROM chats WHERE chat_id LIKE '${name}-%'`;
  await waitFor(async () => (await countOf(ground, accepted)) === messages, "every call to wait", 300_000);
  const starts = killAfterAnswers === 0 ? [] : startPipelines();
  await waitFor(() => answers >= killAfterAnswers, "some calls to be answered");
  const killedAt = ledger.now();
  await victim.kill("SIGKILL");
  const ends = await Promise.all(calls);
  const cut = waiting.filter((_, index) => ends[index] === "cut");
  say(`${name}: ${messages} calls waited, ${messages - cut.length} were answered, ${cut.length} were cut`);
  await Promise.all(starts.length > 0 ? starts : startPipelines());

  const repeating = cut.filter((_, index) => index % 2 === 0);
  await Promise.all(repeating.map((entry) => repeat(chaos, living, entry)));
  await readDrains(chaos, living, waiting);
  await victim.start();
  const figure = `${cut.length}, ${repeating.length}, ${cut.length - repeating.length}`;
  return { killedAt, answered: waiting.filter((entry) => !cut.includes(entry)), figure };
}

async function repeat({ ground, ledger }: Chaos, url: string, entry: Entry) {
  const answer = await waitFor(async () => {
    const tried = await send(url, ground.key, entry);
    return tried?.status === 409 ? null : tried;
  }, "a repeated call to be taken");
  ledger.acknowledge(entry, answer.body.messageId);
  noteReplies(ledger, answer, "call");
}

/** Reads every chat's drain to its end, also where the call has brought the answer: there it must be empty. */
async function readDrains(chaos: Chaos, url: string, entries: readonly Entry[]) {
  const { ground, ledger, say } = chaos;
  const rows = await rowsOf<{ id: string; chat_id: string }>(
    ground,
    "SELECT m.id, c.chat_id FROM messages m JOIN chats c USING (ticket_id)",
  );
  const idOf = new Map(rows.map((row) => [row.chat_id, row.id]));
  // A call that was interrupted and not repeated gave its customer no id.
  for (const entry of entries.filter(({ messageId }) => messageId === null))
    ledger.acknowledge(entry, idOf.get(entry.chat) ?? "");
  let isOver = false;
  const ask = (path: string) => call(`${url}${path}`, { key: ground.key, timeoutMs: 1_000 });
  const readSome = async (part: readonly Entry[]) => {
    for (const { chat, answers } of part) {
      // One that has its answer is read once.
      await collect(chaos, { chat, isOver: () => isOver || answers.length > 0, waitMs: 1_000, ask });
    }
  };
  const lanes = Array.from({ length: LANES }, (_, lane) => entries.filter((_entry, index) => index % LANES === lane));
  const readAll = Promise.all(lanes.map(readSome));
  const hasAll = () => entries.every(({ answers }) => answers.length > 0);
  await waitFor(hasAll, "every answer to be had", 60_000).catch((error: Error) => say(error.message));
  isOver = true;
  await readAll;
}
