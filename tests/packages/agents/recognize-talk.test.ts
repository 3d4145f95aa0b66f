import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { classifyMessage, createTalkRecognizer } from "@svc/agents";
import type { TalkRecognizer } from "@svc/agents";
import { createEmbedder } from "@svc/knowledge";
import type { Embedder } from "@svc/knowledge";
import { startEmbeddingServer, testLog } from "@svc/testing";
import type { EmbeddingServer } from "@svc/testing";

const REAL_LIFE = fileURLToPath(new URL("../../../eval/real-life/", import.meta.url));
const GUIDE = fileURLToPath(new URL("guide-questions.jsonl", import.meta.url));

let server: EmbeddingServer;
let embedder: Embedder;
let byServer: TalkRecognizer;

beforeAll(async () => {
  server = await startEmbeddingServer({ synonyms: [["lifesaver", "lifesavers"]] });
  embedder = createEmbedder({ baseUrl: server.baseUrl, model: "test-model", log: testLog() });
  byServer = createTalkRecognizer(embedder, (error) => testLog().error({ error }, "failed to embed examples"));
});
afterAll(async () => {
  await embedder?.close();
  await server?.close();
});

/** Returns questions of the sets in eval/real-life and about the guide that the phrases leave to the documents. */
function readQuestions(): string[] {
  const sets = readdirSync(REAL_LIFE, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const files = [GUIDE, ...sets.map(({ name }) => `${REAL_LIFE}${name}/questions.jsonl`)];
  return files
    .flatMap((file) => readFileSync(file, "utf8").split("\n"))
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as { text: string })
    .map(({ text }) => text)
    .filter((text) => classifyMessage(text).kind === "question");
}

test.each([
  ["lifesavers, you have made my day", "thanks"],
  ["this is driving me up the wall, crazy", "complaint"],
  ["put me through, one of those colleagues", "person"],
])("recognizes with an embeddings server what no phrase matches: %s", async (text, kind) => {
  expect(classifyMessage(text).kind).toBe("question");
  expect(await byServer.recognize(text, { language: "en" })).toEqual({ kind, language: "en" });
});

test("embeds the examples of a language once for all messages", async () => {
  const countExamples = () => server.requests().filter(({ input }) => input.length > 1).length;
  await byServer.recognize("you are lifesavers indeed", { language: "en" });
  const before = countExamples();
  await byServer.recognize("made my day indeed", { language: "en" });
  expect(before).toBeGreaterThan(0);
  expect(countExamples()).toBe(before);
});

test("never mistakes a question about documents for small talk", async () => {
  const questions = readQuestions();
  expect(questions.length).toBeGreaterThan(100);
  const taken: string[] = [];
  for (const text of questions) {
    const found = await byServer.recognize(text, {});
    if (found !== null) taken.push(`${found.kind}: ${text}`);
  }
  expect(taken).toEqual([]);
});

test("recognizes nothing while the server does not respond, and a message waits less than two seconds for it", async () => {
  server.answerWith("hang");
  const startedAt = performance.now();
  expect(await byServer.recognize("lifesavers, truly, you have made my day", { language: "en" })).toBeNull();
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  server.answerWith(null);
});
