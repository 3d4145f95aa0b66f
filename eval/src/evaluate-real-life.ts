// What customers get: the messages of sets of questions about documents, sent to the running product one after the other.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { questionOf, readFollowUp } from "@svc/agents";
import { calibrationOf, percentile, share } from "@svc/cli";
import { createFileReader, ensureKb, ingestFile, searchKnowledge } from "@svc/knowledge";
import type { SearchResult } from "@svc/knowledge";
import { queryDatabase, startEmbeddedProduct, testLog } from "@svc/testing";
import type { EmbeddedProduct } from "@svc/testing";
import { openScratchStore } from "./open-scratch-store.ts";
import { forEachShown, readJsonLines } from "./read-set.ts";
import type { Evaluation } from "./read-set.ts";

// Sets of questions about documents: a folder a set, with docs/ (files as `svc kb add` reads them), questions.jsonl and
// set.json. A line of questions.jsonl is
//   {"id", "text", "before": [earlier messages], "expect": "answer" | "hold", "all": [patterns that an answer must hold]}
// and set.json may have "group": sets of one group, such as one subject in two languages, are never split; and
// "agentDescription", of the agent that answers from the documents, and "project": agents of one project share messages.
/** A question about the documents of a set; `all` are patterns that an answer must match. */
interface SetQuestion {
  text: string;
  before?: string[];
  expect?: string;
  all?: string[];
}

/** A set of questions about documents. */
interface QuestionSet {
  name: string;
  group: string;
  description?: string | undefined;
  project?: string | undefined;
  files: string[];
  questions: SetQuestion[];
}

/** A question with the search results of the knowledge bases. */
export interface FoundQuestion {
  set: string;
  group: string;
  text: string;
  expect: string | undefined;
  all: string[];
  asked: string;
  found: SearchResult;
  elsewhere?: SearchResult[];
}

/** Number of passages of a search from which an answer is chosen. */
const SEARCH_LIMIT = 15;

/** Number of unrelated knowledge bases in which each question of `findForQuestions` is also searched. */
const OTHER_BASES = 3;

/** Reads the sets of a folder, or the folder itself if it is a set. */
export function readQuestionSets(folder: string): QuestionSet[] {
  const isSet = (path: string) => existsSync(join(path, "questions.jsonl")) && existsSync(join(path, "docs"));
  const folders = isSet(folder) ? [folder] : readdirSync(folder).map((name) => join(folder, name));
  const sets = folders.filter(isSet).map((path) => {
    const about = (
      existsSync(join(path, "set.json")) ? JSON.parse(readFileSync(join(path, "set.json"), "utf8")) : {}
    ) as { name?: string; group?: string; agentDescription?: string; project?: string };
    const name = about.name ?? relative(join(path, ".."), path);
    return {
      name,
      group: about.group ?? name,
      description: about.agentDescription,
      project: about.project,
      files: listFiles(join(path, "docs")),
      questions: readJsonLines<SetQuestion>(join(path, "questions.jsonl")),
    };
  });
  if (sets.length === 0) throw new Error(`${folder} has no set: a folder with docs/ and questions.jsonl.`);
  return sets;
}

/** Returns whether a text matches every pattern of an answer (with "some": any), ignoring line breaks. */
export function holdsAnswer(text: string, patterns: readonly string[], of: "every" | "some" = "every"): boolean {
  const flat = text.replace(/\s+/g, " ").replace(/[’‘]/g, "'");
  const tests = patterns.map((pattern) => new RegExp(pattern, "i"));
  return tests.length > 0 && tests[of]((pattern) => pattern.test(text) || pattern.test(flat));
}

function listFiles(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? listFiles(path) : [path];
  });
}

/**
 * Adds each set to a knowledge base of a scratch database and searches it for the set's questions: `found` has the
 * results, `elsewhere` those of knowledge bases of other groups.
 */
export async function findForQuestions(sets: readonly QuestionSet[]): Promise<FoundQuestion[]> {
  const { store, log, addProject, close } = await openScratchStore();
  const reader = createFileReader();
  try {
    const project = await addProject("evaluation");
    const bases: { name: string; group: string; id: string }[] = [];
    for (const { name, group, files } of sets) {
      const { kb } = await ensureKb({ store }, project.id, name);
      bases.push({ name, group, id: kb.id });
      await forEachShown(`${name}: added`, files, (path) =>
        ingestFile({ store, log, reader }, project.id, kb.id, { key: path, name: path, bytes: readFileSync(path) }),
      );
    }
    const search = (query: string, kbId = "") =>
      searchKnowledge({ store }, project.id, { query, kbIds: [kbId], limit: SEARCH_LIMIT });
    const rows: FoundQuestion[] = [];
    for (const [at, { name, group, questions }] of sets.entries()) {
      const others = bases.filter((base) => base.group !== group);
      await forEachShown(`${name}: asked`, [...questions.entries()], async ([number, question]) => {
        const { text, before = [], expect, all = [] } = question;
        const history = before.map((said) => ({ author: "customer" as const, text: said }));
        const own = questionOf(text);
        const query = readFollowUp(own, history)?.query ?? own;
        const found = await search(query, bases[at]?.id);
        const elsewhere: SearchResult[] = [];
        for (let other = 0; other < Math.min(OTHER_BASES, others.length); other += 1) {
          elsewhere.push(await search(query, others[(number + other * 5) % others.length]?.id));
        }
        const asked = query === own ? own : `${own} ${query}`;
        rows.push({ set: name, group, text, expect, all, asked, found, elsewhere });
      });
    }
    return rows;
  } finally {
    await reader.close?.();
    await close();
  }
}

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
