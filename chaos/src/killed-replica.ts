// One of two api replicas is killed while sync calls wait on it: once before any answer, once in the midst of them.
import { randomUUID } from "node:crypto";
import type { CompositionProcess } from "@svc/testing";
import { call, collect, noteReplies, readAnswers } from "./customer.ts";
import { countOf, processesOf, rowsOf, waitFor } from "./ground.ts";
import { judge } from "./ledger.ts";
import type { Entry } from "./ledger.ts";
import type { Chaos, Outcome, Scenario } from "./ground.ts";

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
