import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import type { Agent } from "@svc/contracts";
import type { Cli } from "../cli.ts";
import { parseEvalLines, readEvalFile, resolveLines, suggestNames } from "./eval-lines.ts";
import type { EvalLine } from "./eval-lines.ts";
import { runCli } from "../run-cli.ts";
import { createTerminal } from "../terminal.ts";

const parseOne = (line: object) => parseEvalLines(JSON.stringify(line));
const errorsOf = (line: unknown) => parseEvalLines(JSON.stringify(line)).errors.map(({ error }) => error);

describe("a line", () => {
  test("may have only a message; the other fields stay undefined", () => {
    const [line] = parseOne({ text: "hello" }).lines;
    expect(line).toEqual({ text: "hello", chat: [], line: 1 });
  });

  test("distinguishes undefined from null", () => {
    const [line] = parseOne({ text: "hello", agent: null, document: null, answer: null }).lines;
    expect(line).toMatchObject({ agent: null, document: null, answer: null });
  });

  test("accepts one value or a list, and earlier messages in two forms", () => {
    const chat = ["first", { author: "agent", text: "second" }, { text: "third" }];
    const [line] = parseOne({ text: "x", id: 7, document: "a.md", answer: ["b", "c"], chat }).lines;
    expect(line).toMatchObject({
      id: "7",
      document: ["a.md"],
      answer: ["b", "c"],
      chat: [
        { author: "customer", text: "first" },
        { author: "agent", text: "second" },
        { author: "customer", text: "third" },
      ],
    });
  });

  test.each([
    [[1], /must be one object/],
    ["text", /must be one object/],
    [null, /must be one object/],
    [{}, /text: must be a string/],
    [{ text: " \n" }, /text: must not be empty/],
    [{ text: "x".repeat(50_001) }, /text: must have at most 50000 characters/],
    [{ text: "x", agent: 5 }, /agent: must be the name or ID of an agent/],
    [{ text: "x", document: [] }, /document: must contain at least one: a document's key, title, URL or ID/],
    [{ text: "x", answer: { a: 1 } }, /answer: must be text that the answer must contain/],
    [{ text: "x", answer: ["**"] }, /answer: must not be empty or only whitespace/],
    [{ text: "x", chat: "y" }, /chat: must be a list/],
    [{ text: "x", chat: [{ author: "bot", text: "y" }] }, /chat\.0: must be a string or/],
    [{ text: "x", id: {} }, /id: must be a string or a number/],
  ])("that is wrong is reported with what is needed: %j", (line, error) => {
    expect(errorsOf(line)).toEqual([expect.stringMatching(error)]);
  });
});

describe("a file", () => {
  test("reports all errors at once, with their lines; skips empty lines", () => {
    const { lines, errors } = parseEvalLines('{"text":"a"}\r\n\n{oops}\n{"text":5}\n  \n{"text":"b"}\n');
    expect(lines.map(({ line, text }) => [line, text])).toEqual([
      [1, "a"],
      [6, "b"],
    ]);
    expect(errors.map(({ line }) => line)).toEqual([3, 4]);
  });

  test("has unique ids", () => {
    const { lines, errors } = parseEvalLines('{"text":"a","id":1}\n{"text":"b","id":"1"}');
    expect(lines).toHaveLength(1);
    expect(errors).toEqual([{ line: 2, error: "id: already used in line 1" }]);
  });

  test("may have additional fields, which are counted", () => {
    const { errors, unknownFields } = parseEvalLines('{"text":"a","anwser":1}\n{"text":"b","anwser":2,"by":"me"}');
    expect(errors).toEqual([]);
    expect([...unknownFields]).toEqual([
      ["anwser", 2],
      ["by", 1],
    ]);
  });

  test("may be empty", () => {
    expect(parseEvalLines(" \n\n")).toMatchObject({ lines: [], errors: [] });
  });
});

const silent = { write: () => undefined };

/** Reads a file from standard input; returns the result and the output. */
async function read(input: string | Uint8Array) {
  let notes = "";
  const stderr = { write: (text: string) => (notes += text) };
  const cli: Cli = {
    env: {},
    folder: "/nowhere",
    terminal: createTerminal({ stdout: silent, stderr, isJson: false, env: {} }),
    openInput: () => Readable.from([Buffer.from(input)]),
    self: "svc",
    silentSelf: "svc",
    startWith: "svc up",
    setExitCode: () => undefined,
  };
  const { name, lines, errors } = await readEvalFile(cli, "-");
  return { name, lines, errors, notes };
}

test.each([
  ["", "standard input is empty. Each line must be one message; see: svc eval --help"],
  [" \n\n", "standard input is empty. Each line must be one message; see: svc eval --help"],
  [Uint8Array.of(0x7b, 0xff, 0xfe), "standard input is not UTF-8 text. Save it as UTF-8."],
  ["1\n".repeat(100_001), "standard input has 100001 lines; the maximum is 100000. Split it."],
])("a file without lines that could be used is refused", async (input, message) => {
  await expect(read(input)).rejects.toThrow(message);
});

test("reports invalid lines of a file together with unknown names", async () => {
  expect(await read("\uFEFFoops\n")).toMatchObject({ lines: [], errors: [{ line: 1 }], notes: "" });
});

test("lists unknown fields, which may be typos", async () => {
  const { lines, notes } = await read('{"text": "x", "anwser": "y"}\n{"text": "z", "anwser": 1, "\\u001b[2Jodd": 1}');
  expect(lines).toHaveLength(2);
  expect(notes.trim().split("\n")).toEqual([
    'The unknown field "anwser" is ignored (2 lines).',
    'The unknown field "odd" is ignored (1 line).',
  ]);
});

test.each([
  ["--fail-under", "80"],
  ["--fail-under", ""],
  ["--show", "201"],
  ["--show", "-1"],
])("%s %j is refused before the file is read", async (...options) => {
  const code = await runCli(["eval", "file.jsonl", ...options], {
    env: {},
    workingFolder: "/nowhere",
    program: "/usr/bin/svc",
    openInput: () => Readable.from([]),
    stdout: silent,
    stderr: silent,
  });
  expect(code).toBe(2);
});

test("suggests up to three similar names, the most similar first", () => {
  const names = ["billing", "Building a shed", "tech", "billing 2", "billings", "billing"];
  expect(suggestNames("biling", names)).toEqual(["billing", "billing 2", "billings"]);
});

test("does not suggest a name that is much less similar than another", () => {
  expect(suggestNames("invoice.md", ["invoices.md", "pairing.md"])).toEqual(["invoices.md"]);
});

test("suggests nothing if no name is similar", () => {
  expect(suggestNames("quokka", ["billing", "", "tech"])).toEqual([]);
});

const AGENTS = [
  { id: "a1", name: "billing" },
  { id: "a2", name: "tech" },
] as Agent[];
const DOCUMENTS = [
  { id: "d1", key: "refunds.md", title: "Refunds", url: null },
  { id: "d2", key: "old/refunds.md", title: "Refunds", url: "https://example.com/refunds" },
];

const resolveAll = (...lines: Partial<EvalLine>[]) =>
  resolveLines(
    lines.map((line, index) => ({ text: "x", chat: [], line: index + 1, ...line })),
    { agents: AGENTS, documents: DOCUMENTS },
  );

test("finds agents by name and id", () => {
  const { lines } = resolveAll({ agent: "tech" }, { agent: "a1" }, { agent: null }, {});
  expect(lines.map(({ agentId }) => agentId)).toEqual(["a2", "a1", null, undefined]);
});

test("finds documents by id, key, URL and title; a title matches all documents that have it", () => {
  const names = ["d1", "old/refunds.md", "https://example.com/refunds", "Refunds"];
  const [line, none, unsaid] = resolveAll({ document: names }, { document: null }, {}).lines;
  expect(line?.documents?.map(({ ids }) => ids)).toEqual([["d1"], ["d2"], ["d2"], ["d1", "d2"]]);
  expect([none?.documents, unsaid?.documents]).toEqual([null, undefined]);
});

test("uses the line number if there is no id", () => {
  expect(resolveAll({ id: "mine" }, {}).lines.map(({ id }) => id)).toEqual(["mine", "2"]);
});

test("reports all unknown names at once, with suggestions", () => {
  const { errors } = resolveAll({ agent: "biling", document: ["refund.md", "quokka"] }, { agent: "quokka" });
  expect(errors).toEqual([
    { line: 1, error: 'agent: no agent is named "biling"; did you mean "billing"?' },
    {
      line: 1,
      error: expect.stringMatching(/^document: no document is named "refund\.md"; did you mean "refunds\.md" or /),
    },
    { line: 1, error: 'document: no document is named "quokka"' },
    { line: 2, error: 'agent: no agent is named "quokka"' },
  ]);
});
