// What customers get: the messages of sets of questions about documents, sent to the running product one after the other.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createFileReader, ensureKb, ingestFile } from "@svc/knowledge";
import { queryDatabase, startEmbeddedProduct, testLog } from "@svc/testing";
import type { EmbeddedProduct } from "@svc/testing";
import { calibrationOf, percentile, share } from "@svc/cli";
import { holdsAnswer, readQuestionSets } from "./read-questions.ts";
import type { QuestionSet, SetQuestion } from "./read-questions.ts";
import { forEachShown, readJsonLines } from "./read-set.ts";
import type { Evaluation } from "./read-set.ts";

/** A message with its set and project. */
type Message = SetQuestion & { set: string; project: string };

/** What is read of a sync response. */
interface SyncResponse {
  chatId: string;
  ticketId: string;
  messageId: string;
  replies: { type: string; text: string; sources?: unknown[] }[];
}

/** What is read of a ticket. */
interface Ticket {
  events: {
    messageId: string;
    data: { gate?: { sends: boolean; why?: string }; triage?: { agentId: string } } | null;
  }[];
  draft?: { text: string } | null;
  confidence: number | null;
}
type Prediction = Awaited<ReturnType<typeof ask>>;

/** Project of small talk, and of sets without one. */
const PROJECT = "real-life";

/** Agent description of a set without its own. */
const DESCRIPTION = "Questions about the documents of its knowledge base.";

/**
 * Starts the product on an empty database with an agent and a knowledge base for each set, in one project with default
 * settings unless a set names another, and sends every message in mode `sync`. Small talk is in `talk.jsonl` next to
 * the sets. Returns predictions and scores for each set and for all.
 */
export async function evaluateRealLife(folders: readonly string[]): Promise<Evaluation> {
  const sets = folders.flatMap((folder) => readQuestionSets(folder));
  const talk = folders.flatMap((folder) => readTalk(join(folder, "talk.jsonl")));
  const product = await startEmbeddedProduct();
  try {
    await queryDatabase(product.databaseUrl, "UPDATE api_keys SET rate_limit = 0");
    const agentIds = await addAgents(product, sets);
    const messages = [
      ...sets.flatMap(({ name, project = PROJECT, questions }) =>
        questions.map((row) => ({ set: name, project, ...row })),
      ),
      ...talk,
    ];
    const predictions = await forEachShown("asked", messages, (message) =>
      ask(product, message, agentIds.get(message.set) ?? null),
    );
    const names = [...new Set(messages.map(({ set }) => set))];
    const scores = Object.fromEntries(
      [...names, "all"].map((name) => [
        name,
        scoresOf(predictions.filter(({ set }) => name === "all" || set === name)),
      ]),
    );
    return { predictions, scores };
  } finally {
    await product.stop();
  }
}

function readTalk(file: string): Message[] {
  if (!existsSync(file)) return [];
  return readJsonLines<SetQuestion>(file).map((line) => ({ set: "talk", project: PROJECT, ...line }));
}

/** Returns the agents' ids by the names of the sets. */
async function addAgents(product: EmbeddedProduct, sets: readonly QuestionSet[]) {
  const store = product.openStore();
  const reader = createFileReader();
  const agentIds = new Map<string, string>();
  try {
    for (const { name, files, description = DESCRIPTION, project: projectName = PROJECT } of sets) {
      const { project } = await store.projects.ensure(projectName);
      const { kb } = await ensureKb({ store }, project.id, name);
      await forEachShown(`${name}: added`, files, (path) =>
        ingestFile({ store, log: testLog(), reader }, project.id, kb.id, {
          key: path,
          name: path,
          bytes: readFileSync(path),
        }),
      );
      const json = { name, description, kbIds: [kb.id] };
      const { item } = (await product.call("POST", "/admin/agents", { project: projectName, json })) as {
        item: { id: string };
      };
      agentIds.set(name, item.id);
    }
    return agentIds;
  } finally {
    await reader.close?.();
    await store.close();
  }
}

/** Sends a message after the earlier ones of its chat, and returns the outcome. */
async function ask(product: EmbeddedProduct, message: Message, agentId: string | null) {
  const { set, project, text, before = [], expect, all = [] } = message;
  let response: SyncResponse | undefined;
  for (const said of [...before, text]) {
    const json = { text: said, chatId: response?.chatId };
    response = (await product.call("POST", "/messages", { project, json })) as SyncResponse;
  }
  const { ticketId, messageId: sentId, replies: given = [] } = response ?? {};
  const { item } = (await product.call("GET", `/admin/tickets/${ticketId}`, { project })) as { item: Ticket };
  const { gate, triage } =
    item.events.findLast(({ messageId, data }) => messageId === sentId && data?.gate)?.data ?? {};
  const replies = given.filter(({ type }) => type === "message");
  const isSent = gate?.sends === true && replies.some(({ sources = [] }) => sources.length > 0);
  const answer = isSent ? replies.map((reply) => reply.text).join("\n") : (item.draft?.text ?? "");
  const isRight = expect === "answer" && holdsAnswer(answer, all);
  return {
    set,
    text,
    expect,
    isSent,
    isRight,
    isRouted: agentId === null ? null : triage?.agentId === agentId,
    confidence: gate === undefined || answer === "" ? null : item.confidence,
    place: isRight ? positionOf(answer, all[0] ?? "") : null,
    why: gate?.why ?? null,
    answer,
  };
}

const positionOf = (answer: string, pattern: string) =>
  answer.replace(/\s+/g, " ").replace(/[’‘]/g, "'").search(new RegExp(pattern, "i"));

/** Returns shares of answerable messages, of sent answers, and of all messages, as docs/quality.md explains them. */
function scoresOf(rows: readonly Prediction[]) {
  const answerable = rows.filter(({ expect }) => expect === "answer");
  const sent = rows.filter(({ isSent }) => isSent);
  const right = sent.filter(({ isRight }) => isRight);
  const stated = rows.flatMap((row) => (row.confidence === null ? [] : [{ ...row, confidence: row.confidence }]));
  const median = (numbers: readonly number[]) => percentile(numbers, 0.5);
  return {
    messages: rows.length,
    answerable: answerable.length,
    sentAndRight: share(answerable, ({ isSent, isRight }) => isSent && isRight),
    heldAndRight: share(answerable, ({ isSent, isRight }) => isRight && !isSent),
    sentAndWrong: share(rows, ({ isSent, isRight }) => isSent && !isRight),
    rightAmongSent: share(sent, ({ isRight }) => isRight),
    rightlyHeld: share(
      rows.filter(({ expect }) => expect !== "answer"),
      ({ isSent }) => !isSent,
    ),
    rightAgent: share(
      answerable.filter(({ isRouted }) => isRouted !== null),
      ({ isRouted }) => isRouted === true,
    ),
    calibrationError: calibrationOf(stated).error,
    chars: median(right.map(({ answer }) => answer.length)),
    place: median(right.map(({ place: position }) => position ?? NaN)),
  };
}
