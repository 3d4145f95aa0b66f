import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { addDocument, ensureKb } from "@svc/knowledge";
import { newId, openStore } from "@svc/store";
import { createTestDatabase, testLog, queryDatabase } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { svc, svcJson } from "./support/run-svc.ts";
import { makeFolder, removeFolders } from "./support/svc-instance.ts";

const SECRET_KEY = "a-secret-key-that-is-long-enough-for-evaluations";

const AGENTS = {
  billing: {
    examples: ["Where is my invoice?", "I was charged twice", "When do I get my money back?"],
    document: {
      key: "invoices.md",
      text: "# Invoices\n\n## Where is my invoice?\n\nEvery invoice is listed under **Account › Invoices**.\n\n## How long does a refund take?\n\nMoney goes back to the card within five days of the return.",
    },
  },
  tech: {
    examples: ["The remote does not pair", "The lamp blinks red", "How do I pair the remote?"],
    document: {
      key: "pairing.md",
      text: "# Pairing\n\n## How do I pair the remote?\n\nHold the round button of the remote for three seconds until the lamp blinks.",
    },
  },
};

/** Messages assigned to no agent in the test set. */
const NOBODYS = ["what is the weather like", "will it rain tomorrow", "how warm is it in Berlin"];

let database: TestDatabase;
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await makeFolder();
  env = { DATABASE_URL: database.url, SVC_SECRET_KEY: SECRET_KEY, SVC_DATA_DIR: join(folder, "data") };
  const store = openStore({ url: database.url, secretKey: SECRET_KEY, log: testLog() });
  try {
    const { project } = await store.projects.ensure("shop");
    for (const [name, { examples, document }] of Object.entries(AGENTS)) {
      const { kb } = await ensureKb({ store }, project.id, name);
      await addDocument({ store, log: testLog() }, project.id, kb.id, { ...document, mime: "text/markdown" });
      await store.agents.insert(project.id, { name, examples, kbIds: [kb.id] });
    }
    for (const text of NOBODYS) {
      await store.triageMessages.record(project.id, { messageId: newId(), ticketId: newId(), agentId: null, text });
    }
  } finally {
    await store.close();
  }
});

afterAll(async () => {
  await removeFolders();
  await database.drop();
});

async function writeLines(name: string, lines: readonly (object | string)[]): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"));
  return file;
}

const evaluate = (...args: string[]) => svc(env, "eval", "--project", "shop", ...args);
const evaluateToJson = (...args: string[]) => svcJson(env, "eval", "--project", "shop", ...args);

/** Counts messages and tickets in the database. */
const countTraces = () =>
  queryDatabase(
    database.url,
    "SELECT (SELECT count(*) FROM messages) AS messages, (SELECT count(*) FROM tickets) AS tickets",
  );

const LINES = [
  { text: "Where is my invoice?", agent: "billing", document: "invoices.md", answer: "Account › Invoices" },
  { text: "How do I pair the remote?", agent: "tech", document: "Pairing", answer: ["5 seconds", "THREE seconds"] },
  { text: "How long does a refund take?", chat: ["I was charged twice"], agent: "billing", answer: "six days" },
  { text: "How do I pair the remote?", id: "misplaced", agent: "billing" },
  { text: "will it rain in Berlin tomorrow?", agent: null, document: null },
  { text: "where is my invoice", answer: null },
  { text: "This line says nothing." },
];

describe("svc eval", () => {
  test("scores triage, search and answers of the product, without side effects", async () => {
    const file = await writeLines("shop.jsonl", LINES);
    const out = join(folder, "predictions.jsonl");
    const { document, code } = await evaluateToJson(file, "--out", out);
    expect({ document, code }).toMatchObject({
      code: 0,
      document: {
        ok: true,
        project: "shop",
        agent: null,
        lines: 7,
        scored: 6,
        asExpected: 3,
        score: 0.5,
        triage: { lines: 5, right: 4, accuracy: 0.8, noneLines: 1, noneRecall: 1, noneChosen: 1, nonePrecision: 1 },
        retrieval: { lines: 2, hit1: 1, hit3: 1, mrr10: 1, ndcg10: 1 },
        answers: { lines: 3, right: 2, wrong: 1, handedOver: 0, falseRefusals: 0, refusalLines: 2, refused: 1 },
        policies: [
          { agent: "billing", reviewPolicy: "auto_if", autoThreshold: 0.7 },
          { agent: "tech", reviewPolicy: "auto_if", autoThreshold: 0.7 },
        ],
      },
    });
    const { thresholds, worst } = document as { thresholds: object[]; worst: { line: number }[] };
    expect(thresholds[0]).toEqual({ threshold: 0, answered: 4, right: 2, wrong: 2 });
    expect(worst.map(({ line }) => line).sort((a, b) => a - b)).toEqual([3, 4, 6]);

    const predictions = (await readFile(out, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(predictions).toHaveLength(7);
    expect(predictions[0]).toMatchObject({
      id: "1",
      agent: "billing",
      documents: ["invoices.md"],
      place: 1,
      isSent: true,
      answerOutcome: "right",
      sources: [{ title: "Invoices", quote: expect.stringContaining("Account › Invoices") }],
    });
    expect(predictions[3]).toMatchObject({ id: "misplaced", agent: "tech", isAgentRight: false, isAsExpected: false });
    expect(predictions[4]).toMatchObject({ agent: null, answer: null, answerOutcome: "handed_over" });
    expect(await countTraces()).toEqual([{ messages: "0", tickets: "0" }]);
  });

  test("prints tables, and exits with 1 below the required score", async () => {
    const file = await writeLines("table.jsonl", LINES);
    const { stdout, stderr, code } = await evaluate(file, "--fail-under", "0.6", "--show", "1");
    expect(code).toBe(1);
    expect(stderr).toContain("The share of lines as expected is 0.500, below --fail-under 0.6.");
    expect(stdout).toMatch(/\nLines as expected +0\.500 +3 of 6; 1 without expected results\n/);
    expect(stdout).toMatch(/\nTHRESHOLD +ANSWERED +RIGHT +WRONG +CORRECT OF THESE\n0\.0 +4 +2 +2 +50 %\n/);
    expect(stdout.split("NOT AS EXPECTED")[1]).toMatch(/^, WORST FIRST\n\d +".*"\n +expected: .*\n +got: /);
    expect(stdout.match(/expected: /g)).toHaveLength(1);
  });

  test("asks the named agent without triage", async () => {
    const file = await writeLines("one.jsonl", LINES);
    const { document, code } = await evaluateToJson(file, "--agent", "tech", "--fail-under", "0.2");
    expect({ document, code }).toMatchObject({
      code: 0,
      document: { agent: "tech", triage: null, scored: 5, retrieval: { lines: 2, hit1: 0.5 } },
    });
  });

  test("lists every invalid line and does not start", async () => {
    const file = await writeLines("bad.jsonl", [
      { text: "fine" },
      "{oops",
      { text: "x", agent: "biling" },
      { text: "x", document: "invoice.md" },
      { text: 5 },
    ]);
    const out = join(folder, "none.jsonl");
    const { stdout, stderr, code } = await evaluate(file, "--out", out);
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    const [head, ...errors] = stderr.trim().split("\n");
    expect(head).toMatch(/bad\.jsonl has 4 invalid lines; nothing was evaluated\.$/);
    expect(errors.map((error) => error.trim())).toEqual([
      "line 2: is not valid JSON; each line must be one object",
      'line 3: agent: no agent is named "biling"; did you mean "billing"?',
      'line 4: document: no document is named "invoice.md"; did you mean "invoices.md" or "Invoices"?',
      "line 5: text: must be a string: the customer's message",
    ]);
    await expect(readFile(out)).rejects.toThrow("ENOENT");
  });

  test("rejects an unknown agent, and predictions that would overwrite the file", async () => {
    const file = await writeLines("fine.jsonl", [{ text: "x" }]);
    const ends = await Promise.all([evaluate(file, "--agent", "bill"), evaluate(file, "--out", file)]);
    expect(ends.map(({ code }) => code)).toEqual([1, 1]);
    expect(ends.map(({ stderr }) => stderr.trim())).toEqual([
      'No agent is named "bill". Did you mean: billing?',
      "--out is the file that is evaluated. Choose another one.",
    ]);
    expect(await readFile(file, "utf8")).toBe('{"text":"x"}');
  });
});
