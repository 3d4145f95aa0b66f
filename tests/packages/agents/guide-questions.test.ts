import { readFileSync, readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { answerQuestion } from "@svc/agents";
import type { Answer, HistoryMessage } from "@svc/agents";
import type { Agent } from "@svc/contracts";
import { searchKnowledge } from "@svc/knowledge";
import { openTestKnowledge } from "../knowledge/open-test-knowledge.ts";
import type { TestKnowledge } from "../knowledge/open-test-knowledge.ts";

/**
 * Plain questions about the product's own guide, in the format of `svc eval`; those without an answer are off topic.
 */
interface Line {
  text: string;
  chat?: string[];
  document?: string | null;
  answer?: string | string[];
}

const GUIDE = new URL("../../../docs/guide/", import.meta.url);
const LINES = readFileSync(new URL("guide-questions.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Line);

/** Confidence from which the first agent answers automatically. */
const THRESHOLD = 0.5;

const SHARE_RIGHT = 0.8;

/** Limit of automatic answers to off-topic questions. */
const MAX_ANSWERED = 1;

let knowledge: TestKnowledge;
let agent: Agent;
const documents = new Map<string, string>();

beforeAll(async () => {
  knowledge = await openTestKnowledge();
  for (const name of readdirSync(GUIDE)) {
    const { documentId } = await knowledge.add(name, readFileSync(new URL(name, GUIDE), "utf8"));
    documents.set(documentId, name);
  }
  agent = await knowledge.store.agents.insert(knowledge.project, { name: "assistant", kbIds: [knowledge.kbId] });
});

afterAll(() => knowledge.close());

function ask(text: string, history: readonly HistoryMessage[] = []): Promise<Answer> {
  const { store, project } = knowledge;
  return answerQuestion({
    agent,
    text,
    history,
    search: (query, kbIds, limit) => searchKnowledge({ store }, project, { query, kbIds, limit }),
  });
}

async function isRight({ text, chat = [], document, answer = [] }: Line): Promise<boolean> {
  const history: HistoryMessage[] = [];
  for (const earlier of chat) {
    const reply = await ask(earlier, history);
    history.push(
      { author: "customer", text: earlier },
      { author: "agent", text: reply.text ?? "", sources: reply.sources },
    );
  }
  const given = await ask(text, history);
  const isSent = given.text !== null && given.confidence >= THRESHOLD;
  if (document === null) return !isSent;
  const said = given.text?.toLowerCase() ?? "";
  const isSaid = [answer].flat().some((wanted) => said.includes(wanted.toLowerCase()));
  const isFrom =
    document === undefined || given.sources.some(({ documentId }) => documents.get(documentId) === document);
  return isSent && isSaid && isFrom;
}

async function wrongOnes(lines: readonly Line[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const line of lines) if (!(await isRight(line))) wrong.push(line.text);
  return wrong;
}

test("at least four of five plain questions about the product are answered correctly from its guide", async () => {
  const lines = LINES.filter(({ document }) => document !== null);
  expect(lines.length).toBeGreaterThan(50);
  const wrong = await wrongOnes(lines);
  // Shows the list if there are too many.
  if (wrong.length > (1 - SHARE_RIGHT) * lines.length) expect(wrong).toEqual([]);
});

test("at least nine of ten off-topic questions are handed over to a person", async () => {
  const lines = LINES.filter(({ document }) => document === null);
  expect(lines).toHaveLength(10);
  const answered = await wrongOnes(lines);
  if (answered.length > MAX_ANSWERED) expect(answered).toEqual([]);
});
