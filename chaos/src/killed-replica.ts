// One of two api replicas is killed while sync calls wait on it: once before any answer, once in the midst of them.
import { randomUUID } from "node:crypto";
import { call, collect, noteReplies } from "./customer.ts";
import { processesOf, rowsOf, startGround, waitFor } from "./ground.ts";
import { createLedger, judge } from "./ledger.ts";
import { readAnswers } from "./read-answers.ts";

const TIMEOUT_MS = 120_000;
/**
 * An answer that left so shortly before its process was killed may not have been noted as given: then it is in the drain
 * too. It takes some 20 ms, and more on a machine with a thousand calls to end.
 */
const NOTED_WITHIN_MS = 1_000;

export async function killReplica({ messages, say, ledgerFile }) {
  const ground = await startGround();
  const ledger = createLedger();
  const [dying, living] = ground.composition.apiUrls;
  const pipelines = processesOf(ground, "pipeline");
  const [victim] = processesOf(ground, "api");
  const send = (url, { id, chat }) =>
    call(`${url}/api/v1/messages`, {
      method: "POST",
      key: ground.key,
      headers: { "Idempotency-Key": id },
      json: { text: `hello from ${chat}`, chatId: chat, timeoutMs: TIMEOUT_MS },
      timeoutMs: TIMEOUT_MS,
    });
  const figures = {};
  /** Ids of messages whose first call was answered by the process that is killed, with the moment of the kill. */
  const left = new Map();

  /** Calls that wait are cut by a kill. Half of their customers repeat them, the others look into the drain. */
  async function runRound(round, killAfterAnswers) {
    const waiting = Array.from({ length: messages }, (_, index) =>
      ledger.send({ id: randomUUID(), channel: "api", chat: `${round}-${index}`, place: 0, mode: "sync" }),
    );
    await Promise.all(pipelines.map((pipeline) => pipeline.kill("SIGKILL")));
    let answers = 0;
    const calls = waiting.map(async (entry) => {
      const answer = await send(dying, entry);
      if (answer === null) return "cut";
      if (answer.status !== 200) throw new Error(`a call was answered with ${answer.status}`);
      answers++;
      ledger.acknowledge(entry, answer.body.messageId);
      noteReplies(ledger, answer, "call");
      return "answered";
    });
    const accepted = `SELECT count(*)::integer AS count FROM chats WHERE chat_id LIKE '${round}-%'`;
    const isAccepted = async () => (await rowsOf(ground, accepted))[0].count === messages;
    await waitFor(isAccepted, "every call to wait", 300_000);
    const starts = killAfterAnswers === 0 ? [] : pipelines.map((pipeline) => pipeline.start());
    await waitFor(() => answers >= killAfterAnswers, "some calls to be answered");
    const killedAt = ledger.now();
    await victim.kill("SIGKILL");
    const ends = await Promise.all(calls);
    const cut = waiting.filter((_, index) => ends[index] === "cut");
    for (const { id } of waiting.filter((entry) => !cut.includes(entry))) left.set(id, killedAt);
    say(`${round}: ${messages} calls waited, ${messages - cut.length} were answered, ${cut.length} were cut`);
    await Promise.all(starts.length > 0 ? starts : pipelines.map((pipeline) => pipeline.start()));

    const repeating = cut.filter((_, index) => index % 2 === 0);
    await Promise.all(
      repeating.map(async (entry) => {
        const answer = await waitFor(async () => {
          const tried = await send(living, entry);
          return tried?.status === 409 ? null : tried;
        }, "a repeated call to be taken");
        ledger.acknowledge(entry, answer.body.messageId);
        noteReplies(ledger, answer, "call");
      }),
    );
    // Every chat's drain is read to its end, also where the call has brought the answer: there it must be empty.
    const rows = await rowsOf(ground, "SELECT m.id, c.chat_id FROM messages m JOIN chats c USING (ticket_id)");
    const idOf = new Map(rows.map((row) => [row.chat_id, row.id]));
    // Whose call was cut and not repeated was told of no id.
    for (const entry of waiting.filter(({ messageId }) => messageId === null)) {
      ledger.acknowledge(entry, idOf.get(entry.chat));
    }
    const open = () => waiting.filter((entry) => entry.answers.length === 0);
    const { isOver, readAll } = readDrains(waiting);
    await waitFor(() => open().length === 0, "every answer to be had", 60_000).catch((error) => say(error.message));
    isOver();
    await readAll;
    await victim.start();
    figures[`${round}: cut, repeated, drained`] =
      `${cut.length}, ${repeating.length}, ${cut.length - repeating.length}`;
  }

  function readDrains(entries) {
    let over = false;
    const readSome = async (part) => {
      for (const { chat, answers } of part) {
        // One that has its answer is looked at once.
        await collect({ ledger, ground: survivor, chat, isOver: () => over || answers.length > 0, waitMs: 1_000 });
      }
    };
    const lanes = Array.from({ length: 50 }, (_, lane) => entries.filter((_entry, index) => index % 50 === lane));
    return { isOver: () => (over = true), readAll: Promise.all(lanes.map(readSome)) };
  }
  const survivor = { ...ground, composition: { apiUrls: [living] } };

  try {
    await runRound("before", 0);
    await runRound("midst", Math.floor(messages / 3));
    // Whoever is dead answers nothing: what its calls were given, also what their customers read a little later, left
    // before the kill.
    const isUnnoted = ({ id, answers }) =>
      left.has(id) &&
      answers.map(({ by }) => by).join() === "call,drain" &&
      answers[0].at > left.get(id) - NOTED_WITHIN_MS;
    const repeats = ledger.entries.filter(isUnnoted);
    const ages = repeats.map(({ id, answers: [first] }) => left.get(id) - first.at);
    figures["given in the moment before the kill, and in the drain again"] = repeats.length;
    figures["the oldest of them before the kill"] = `${Math.max(0, ...ages)} ms`;
    return { figures, breaches: [...judge(ledger, { mayRepeat: isUnnoted }), ...(await readAnswers(ground, ledger))] };
  } finally {
    ledger.write(ledgerFile);
    await ground.stop();
  }
}
