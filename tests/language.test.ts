import { readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { expect, describe, test } from "@jest/globals";
import { repositoryPath } from "@svc/testing";

/**
 * The words that docs/glossary.md rejects do not occur. Each kind of text has a list of exemptions with reasons, as
 * files or as folders with a trailing `/`.
 */
interface Kind {
  title: string;
  /** Files of this kind, as git pathspecs. */
  files: readonly string[];
  /** Returns the checked passages of a file, each with its line. */
  read(text: string, path: string): Passage[];
  /** Whether the patterns for the beginning of docstrings apply as well. */
  isDocstring?: true;
  exempt: readonly string[];
}
interface Passage {
  line: number;
  text: string;
}

const KINDS: Kind[] = [
  {
    title: "documentation",
    files: ["*.md"],
    // Names in backquotes are code, not prose.
    read: (text) =>
      text.split("\n").map((line, index) => ({ line: index + 1, text: line.replaceAll(/`[^`]*`/g, "`…`") })),
    exempt: [
      // Question sets are data.
      "eval/",
    ],
  },
  {
    title: "texts of the program",
    files: [
      "apps/*.ts",
      "apps/*.tsx",
      "apps/*.json",
      "packages/*.ts",
      "packages/*.json",
      // Test titles are a separate kind.
      ":!*.test.ts",
      ":!packages/testing/",
    ],
    read: (text, path) => lex(text, path).filter(({ kind, text: literal }) => kind === "literal" && isProse(literal)),
    exempt: [
      // Customers' words, which their messages are compared with.
      "packages/agents/data/",
    ],
  },
  {
    title: "docstrings",
    files: ["packages/client/src/*.ts", "packages/contracts/src/*.ts"],
    read: (text, path) => lex(text, path).filter(({ kind }) => kind === "docstring"),
    isDocstring: true,
    exempt: [],
  },
  {
    title: "test titles",
    files: ["packages/client/src/*.test.ts", "packages/contracts/src/*.test.ts", "tests/packages/client/*.test.ts"],
    read: (text, path) => lex(text, path).filter(({ kind, text: literal }) => kind === "literal" && isProse(literal)),
    exempt: [],
  },
];

/** A placeholder of a template literal, with at most one nested level of braces and templates. */
const PLACEHOLDER = /\$\{(?:[^{}`]|`(?:\\.|[^`\\])*`|\{[^{}]*\})*\}/g;
/** Named groups are checked; comments and regular expressions are skipped. */
const TOKENS = [
  /(?<docstring>\/\*\*[\s\S]*?\*\/)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/,
  /(?<=(?:[=>(,:?&|![]|return)\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/,
  /"(?<double>(?:\\.|[^"\\\n])*)"|'(?<single>(?:\\.|[^'\\\n])*)'/,
  new RegExp(`\`(?<template>(?:\\\\.|${PLACEHOLDER.source}|[^\`\\\\])*)\``),
];
const joinPatterns = (patterns: readonly RegExp[]) => new RegExp(patterns.map(({ source }) => source).join("|"), "g");
const TYPESCRIPT = joinPatterns(TOKENS);
const TSX = joinPatterns([...TOKENS, />(?<jsx>[^<>{}=;]+)</]);

/** Returns the docstrings and string literals of a TypeScript file, and JSX text. */
function lex(text: string, path: string): (Passage & { kind: "docstring" | "literal" })[] {
  const lineOf = createLineFinder(text);
  type Found = ReturnType<typeof lex>;
  return [...text.matchAll(path.endsWith(".tsx") ? TSX : TYPESCRIPT)].flatMap(({ index, groups = {} }): Found => {
    const { docstring, double, single, template, jsx } = groups;
    const line = lineOf(index);
    if (docstring !== undefined) {
      const plain = docstring.replaceAll(/^\s*(?:\/\*\*|\*(?!\/))?[ \t]?|\*\/$/gm, "");
      return [{ kind: "docstring", line, text: plain.trim() }];
    }
    const literal = double ?? single ?? template?.replaceAll(PLACEHOLDER, "…") ?? jsx;
    if (literal === undefined) return [];
    // Code in a placeholder is not text, but literals in it are.
    const nested = (template?.match(PLACEHOLDER) ?? []).flatMap((code) => lex(code.slice(2), path));
    return [{ kind: "literal", line, text: literal }, ...nested.map((passage) => ({ ...passage, line }))];
  });
}

function createLineFinder(text: string): (index: number) => number {
  let line = 1;
  let at = 0;
  return (index) => {
    for (; at < index; at++) if (text[at] === "\n") line++;
    return line;
  };
}

/** Prose has at least two words; a single word is a code, a key or a class name, unless it is a table heading. */
const isProse = (literal: string) => /\p{L}{2,} \p{L}|^[A-Z]{4,}$/u.test(literal) && !isSql(literal);

/** SQL contains column names, which migrations cannot rename while the previous version runs. */
const isSql = (literal: string) => /\b(?:SELECT|FROM|WHERE|VALUES|RETURNING)\b|[\w)"] AS "?\w/.test(literal);

interface Rule {
  pattern: RegExp;
  instead: string;
}

/** Reads the patterns of a fenced block of the glossary: `pattern => replacement`. */
function readRules(fence: string, prefix = ""): Rule[] {
  const glossary = readFileSync(repositoryPath("docs/glossary.md"), "utf8");
  const [, block = ""] = glossary.split(`\n\`\`\`${fence}\n`);
  return (block.split("\n```", 1)[0] ?? "").split("\n").map((line) => {
    const [pattern = "", instead = ""] = line.split(" => ");
    return { pattern: new RegExp(`${prefix}(?:${pattern.trim()})`, "i"), instead };
  });
}

const EVERYWHERE = readRules("text");
const DOCSTRINGS = readRules("text docstrings", "^");

const listFiles = (patterns: readonly string[]) =>
  execFileSync("git", ["ls-files", "--", ...patterns], { cwd: repositoryPath(""), encoding: "utf8" })
    .split("\n")
    .filter((path) => path !== "");

const isExempt = (path: string, exempt: readonly string[]) =>
  exempt.some((entry) => (entry.endsWith("/") ? path.startsWith(entry) : path === entry));

function findRejected({ files, read, isDocstring, exempt }: Kind): string[] {
  const rules = isDocstring === true ? [...EVERYWHERE, ...DOCSTRINGS] : EVERYWHERE;
  return listFiles(files)
    .filter((path) => !isExempt(path, exempt))
    .flatMap((path) =>
      read(readFileSync(repositoryPath(path), "utf8"), path).flatMap(({ line, text }) =>
        rules.flatMap(({ pattern, instead }) => {
          const found = pattern.exec(text)?.[0];
          return found === undefined ? [] : [`${path}:${line} "${found}": ${instead}`];
        }),
      ),
    );
}

describe("words that the glossary rejects do not occur in", () => {
  test.each(KINDS)("$title", (kind) => {
    expect(listFiles(kind.files).length).toBeGreaterThan(0);
    expect(findRejected(kind)).toEqual([]);
  });
});

test("the glossary's patterns find rejected words, in any case and kind of text", () => {
  const found = (text: string, rules = EVERYWHERE) => rules.some(({ pattern }) => pattern.test(text));
  expect(
    ["Draft anew", "The server is away.", "how to mend it", "What became of it", "It is no URL.", "80 % sure"].filter(
      (text) => !found(text),
    ),
  ).toEqual([]);
  expect(
    ["Try again.", "a default", "amended", "newsletter", "a way out", "There is no URL."].filter((text) => found(text)),
  ).toEqual([]);
  expect(found("Answers the ticket.", DOCSTRINGS)).toBe(true);
  expect(found("Returns the answers.", DOCSTRINGS)).toBe(false);
  expect(lex('const a = "it is away"; // "no"\n/** Answers. */ const b = <p>Draft anew</p>;', "a.tsx")).toEqual([
    { kind: "literal", line: 1, text: "it is away" },
    { kind: "docstring", line: 2, text: "Answers." },
    { kind: "literal", line: 2, text: "Draft anew" },
  ]);
  expect(["FAULTS", "faults", 'x.faults AS "faults"', "all faults"].filter(isProse)).toEqual(["FAULTS", "all faults"]);
  const template = "at ${fault.place(`of ${1}`)}: ${[{ a: 'b' }].join()} it";
  expect(lex(`const a = /["\`]/.test(b) ? \`${template}\` : b < c && d > e;`, "a.ts").map(({ text }) => text)).toEqual([
    "at …: … it",
    "of …",
    "b",
  ]);
});

test("every exempt entry is still needed", () => {
  const unneeded = KINDS.flatMap((kind) => {
    const found = findRejected({ ...kind, exempt: [] });
    return kind.exempt.filter((entry) => !found.some((text) => text.startsWith(entry)));
  });
  expect(unneeded).toEqual([]);
});
