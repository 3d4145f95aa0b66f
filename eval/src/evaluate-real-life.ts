// What customers get: the messages of sets of questions about documents, sent to the running product one after the other.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createFileReader, ensureKb, ingestFile } from "@svc/knowledge";
import { queryDatabase, startEmbeddedProduct, testLog } from "@svc/testing";
import { calibrationOf, percentile, share } from "./measures.ts";
import { holdsAnswer, readQuestionSets } from "./read-questions.ts";
import { forEachShown } from "./show-progress.ts";

/** The project of sets that name none, and of small talk. */
const PROJECT = "real-life";

/** The agent of a set without a description of its own. */
const DESCRIPTION = "Questions about the documents of its knowledge base.";

/**
 * Starts the product on an empty database with an agent and a knowledge base for each set, in one project with default settings
 * unless a set names another, and sends every message in mode `sync`. Messages of small talk stand in `talk.jsonl` next to the sets. Returns
 * predictions and scores for each set and for all.
 */
export async function evaluateRealLife(folders) {
  const sets = folders.flatMap((folder) => readQuestionSets(folder));
  const talk = folders.flatMap((folder) => readTalk(join(folder, "talk.jsonl")));
  {
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
}

function readTalk(file) {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => ({ set: "talk", project: PROJECT, ...JSON.parse(line) }));
}

/** Returns the agents' ids by the names of the sets. */
async function addAgents(product, sets) {
  const store = product.openStore();
  const reader = createFileReader();
  const agentIds = new Map();
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
      const { item } = await product.call("POST", "/admin/agents", { project: projectName, json });
      agentIds.set(name, item.id);
    }
    return agentIds;
  } finally {
    await reader.close?.();
    await store.close();
  }
}

/** Sends a message after those that stand before it in its chat, and says what came of it. */
async function ask(product, { set, project, text, before = [], expect, all = [] }, agentId) {
  let response = { chatId: undefined };
  for (const said of [...before, text]) {
    response = await product.call("POST", "/messages", {
      project,
      json: { text: said, chatId: response.chatId },
    });
  }
  const { item } = await product.call("GET", `/admin/tickets/${response.ticketId}`, { project });
  const { gate, triage } =
    item.events.findLast(({ messageId, data }) => messageId === response.messageId && data?.gate)?.data ?? {};
  const replies = response.replies.filter(({ type }) => type === "message");
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
    place: isRight ? placeOf(answer, all[0]) : null,
    why: gate?.why ?? null,
    answer,
  };
}

const placeOf = (answer, pattern) => answer.replace(/\s+/g, " ").replace(/[’‘]/g, "'").search(new RegExp(pattern, "i"));

/** Shares of answerable messages, of what was sent, and of all messages, as docs/quality.md explains them. */
function scoresOf(rows) {
  const answerable = rows.filter(({ expect }) => expect === "answer");
  const sent = rows.filter(({ isSent }) => isSent);
  const right = sent.filter(({ isRight }) => isRight);
  const stated = rows.filter(({ confidence }) => confidence !== null);
  const median = (numbers) => percentile(numbers, 0.5);
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
      ({ isRouted }) => isRouted,
    ),
    calibrationError: calibrationOf(stated).error,
    chars: median(right.map(({ answer }) => answer.length)),
    place: median(right.map(({ place }) => place)),
  };
}
