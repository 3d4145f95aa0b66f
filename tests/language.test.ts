import { readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { expect, describe, test } from "@jest/globals";
import { repositoryPath } from "@svc/testing";

/**
 * The words that docs/glossary.md rejects do not occur. Each kind of text has a list of what is not converted yet, named
 * by file or by folder with a `/` at the end; the lists shrink to none.
 */
interface Kind {
  title: string;
  /** Files of this kind, as paths of git. */
  files: readonly string[];
  /** Returns the passages of a file that are read, each with its line. */
  read(text: string): Passage[];
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
    // Names of code in backquotes are what they are.
    read: (text) =>
      text.split("\n").map((line, index) => ({ line: index + 1, text: line.replaceAll(/`[^`]*`/g, "`…`") })),
    exempt: [
      // Names the words.
      "docs/glossary.md",
      // Generated from texts of the program that are not converted yet.
      "docs/configuration.md",
      "docs/endpoints.md",
      "docs/errors.md",
      "docs/reliability.md",
    ],
  },
  {
    title: "texts of the program",
    files: [
      "apps/*.ts",
      "apps/*.tsx",
      "packages/*.ts",
      "apps/console/web/*.json",
      "apps/widget/client/*.json",
      ":(exclude)*.test.ts",
    ],
    read: (text) => lex(text).filter(({ kind, text: literal }) => kind === "literal" && isProse(literal)),
    exempt: [
      "packages/agents/",
      "packages/channel-manager/",
      "packages/contracts/",
      "packages/embedded/",
      "packages/http/",
      "packages/knowledge/",
      "packages/operations/",
      "packages/queue/",
      "packages/runtime/",
      "packages/store/",
      "packages/telemetry/",
      "packages/testing/",
      "apps/api/",
      "apps/cli/",
      "apps/console/",
      "apps/messenger/",
      "apps/pipeline/",
      "apps/tool-server/",
      "apps/widget/",
    ],
  },
  {
    title: "docstrings",
    files: ["packages/client/src/*.ts", "packages/contracts/src/*.ts"],
    read: (text) => lex(text).filter(({ kind }) => kind === "docstring"),
    isDocstring: true,
    exempt: ["packages/client/", "packages/contracts/"],
  },
  {
    title: "test titles",
    files: ["packages/client/src/*.test.ts", "packages/contracts/src/*.test.ts", "tests/packages/client/*.test.ts"],
    read: (text) => lex(text).filter(({ kind, text: literal }) => kind === "literal" && isProse(literal)),
    exempt: [],
  },
];

const TOKEN = new RegExp(
  [
    String.raw`(/\*\*[\s\S]*?\*/)|/\*[\s\S]*?\*/|//[^\n]*`,
    // A regular expression, which may hold quotes.
    String.raw`(?<=[=(,:[!&|?{};]\s*|return )/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+/[dgimsuvy]*`,
    String.raw`"((?:\\.|[^"\\\n])*)"|'((?:\\.|[^'\\\n])*)'`,
    "`((?:\\\\.|[^`\\\\])*)`|>([^<>{}=;]+)<",
  ].join("|"),
  "g",
);

interface Token extends Passage {
  kind: "docstring" | "literal";
}

/** Returns the docstrings and string literals of a TypeScript file, and the text between tags of JSX. */
function lex(text: string): Token[] {
  const lineOf = createLineFinder(text);
  return [...text.matchAll(TOKEN)].flatMap<Token>(
    ({ index, 1: docstring, 2: double, 3: single, 4: template, 5: jsx }) => {
      const line = lineOf(index);
      if (docstring !== undefined) {
        const plain = docstring.replaceAll(/^\s*(?:\/\*\*|\*(?!\/))?[ \t]?|\*\/$/gm, "");
        return [{ kind: "docstring", line, text: plain.trim() }];
      }
      // What is inserted into a template is code.
      const literal = double ?? single ?? template?.replaceAll(/\$\{[^}]*\}/g, "…") ?? jsx;
      return literal === undefined ? [] : [{ kind: "literal", line, text: literal }];
    },
  );
}

function createLineFinder(text: string): (index: number) => number {
  let line = 1;
  let at = 0;
  return (index) => {
    for (; at < index; at++) if (text[at] === "\n") line++;
    return line;
  };
}

/** Prose has two words; a single word is a code, a key or a class name. */
const isProse = (literal: string) => /\p{L}{2,} \p{L}/u.test(literal);

interface Rule {
  pattern: RegExp;
  instead: string;
}

/** Reads the patterns of a fenced block of the glossary: `pattern => what to write instead`. */
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
      read(readFileSync(repositoryPath(path), "utf8")).flatMap(({ line, text }) =>
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

test("the glossary's patterns find what they are for, in any case and kind of text", () => {
  const found = (text: string, rules = EVERYWHERE) => rules.some(({ pattern }) => pattern.test(text));
  expect(
    ["Draft anew", "The server is away.", "how to mend it", "What became of it"].filter((text) => !found(text)),
  ).toEqual([]);
  expect(["Try again.", "a default", "amended", "newsletter", "a way out"].filter((text) => found(text))).toEqual([]);
  expect(found("Answers the ticket.", DOCSTRINGS)).toBe(true);
  expect(found("Returns the answers.", DOCSTRINGS)).toBe(false);
  const literals = lex('const a = "it is away"; // "no"\n/** Answers. */ const b = <p>Draft anew</p>;').map(
    ({ text, line }) => `${line} ${text}`,
  );
  expect(literals).toEqual(["1 it is away", "2 Answers.", "2 Draft anew"]);
});

test("every exempt entry exists", () => {
  const entries = KINDS.flatMap(({ exempt }) => exempt);
  expect(entries.filter((entry) => listFiles([entry]).length === 0)).toEqual([]);
});
