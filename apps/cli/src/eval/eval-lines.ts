import { LIMITS } from "@svc/contracts";
import type { Agent } from "@svc/contracts";
import { z } from "zod";
import { failure } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { readInput } from "../read-input.ts";
import { safeLine } from "../terminal.ts";

/** Returns an answer normalized for comparisons: without case, character width, extra spaces and Markdown marks. */
export function normalizeAnswer(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[*_`~\\]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** An earlier message of the conversation; a plain string is the customer's. */
const earlierMessageSchema = z
  .union(
    [z.string(), z.strictObject({ author: z.enum(["customer", "agent"]).default("customer"), text: z.string() })],
    { error: 'must be a string or {"author": "customer" or "agent", "text": …}' },
  )
  .transform((said) => (typeof said === "string" ? { author: "customer" as const, text: said } : said));

const oneOrMore = (what: string) =>
  z
    .union([z.string(), z.array(z.string()).nonempty(`must contain at least one: ${what}`)], {
      error: `must be ${what}, a list of them, or null`,
    })
    .transform((given) => (typeof given === "string" ? [given] : given))
    .nullable()
    .optional();

/** A line of an evaluation file as written. Additional fields are ignored. */
const evalLineSchema = z.object({
  text: z
    .string({ error: "must be a string: the customer's message" })
    .refine((text) => text.trim() !== "", "must not be empty or only whitespace")
    .refine((text) => Array.from(text).length <= LIMITS.textMaxChars, {
      error: `must have at most ${LIMITS.textMaxChars} characters`,
    }),
  id: z.union([z.string(), z.number()], { error: "must be a string or a number" }).transform(String).optional(),
  agent: z.string({ error: "must be the name or ID of an agent, or null for none" }).nullable().optional(),
  document: oneOrMore("a document's key, title, URL or ID"),
  answer: oneOrMore("text that the answer must contain"),
  chat: z.array(earlierMessageSchema, { error: "must be a list of earlier messages" }).max(100).default([]),
});

/** The fields that a line may have. */
const EVAL_FIELDS: readonly string[] = Object.keys(evalLineSchema.shape);

/** A parsed line: an absent field is undefined, null means "none". */
export type EvalLine = z.output<typeof evalLineSchema> & {
  /** Line number in the file, from 1. */
  line: number;
};

/** Error in a line. */
export interface LineError {
  line: number;
  error: string;
}

/** Contents of a file. */
interface ParsedLines {
  lines: EvalLine[];
  errors: LineError[];
  /** Unknown fields, each with the number of lines that have it. */
  unknownFields: Map<string, number>;
}

/**
 * Parses a file with one JSON object per line. Reports all errors at once, with their line numbers; skips empty
 * lines. Names of agents and documents are resolved later.
 */
export function parseEvalLines(text: string): ParsedLines {
  const parsed: ParsedLines = { lines: [], errors: [], unknownFields: new Map() };
  const lineOfId = new Map<string, number>();
  for (const [index, raw] of text.split("\n").entries()) {
    if (raw.trim() === "") continue;
    const line = index + 1;
    const read = parseLine(raw);
    if (typeof read === "string") {
      parsed.errors.push({ line, error: read });
      continue;
    }
    for (const field of read.unknown) parsed.unknownFields.set(field, (parsed.unknownFields.get(field) ?? 0) + 1);
    const { id } = read.line;
    const earlier = id === undefined ? undefined : lineOfId.get(id);
    if (id !== undefined && earlier !== undefined) {
      parsed.errors.push({ line, error: `id: already used in line ${earlier}` });
      continue;
    }
    if (id !== undefined) lineOfId.set(id, line);
    parsed.lines.push({ ...read.line, line });
  }
  return parsed;
}

function parseLine(raw: string): { line: Omit<EvalLine, "line">; unknown: string[] } | string {
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return "is not valid JSON; each line must be one object";
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return "is not an object; each line must be one object";
  }
  const read = evalLineSchema.safeParse(value);
  if (!read.success) {
    return read.error.issues.map(({ path, message }) => `${path.map(String).join(".")}: ${message}`).join("; ");
  }
  const empty = read.data.answer?.find((answer) => normalizeAnswer(answer) === "");
  if (empty !== undefined) return "answer: must not be empty or only whitespace";
  return { line: read.data, unknown: Object.keys(value).filter((field) => !EVAL_FIELDS.includes(field)) };
}

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_LINES = 100_000;

/** Maximum number of unknown fields that are listed. */
const SHOWN_FIELDS = 20;

const bad = (message: string, cause?: unknown) => failure("bad_input", message, { cause });

/**
 * Reads an evaluation file of at most 64 MB and 100,000 lines; `-` is standard input. Lists unknown fields on
 * standard error, since they may be typos. `name` is the name of the file in messages. Throws CliError `bad_input` if
 * the file cannot be read or has no lines.
 */
export async function readEvalFile(cli: Cli, file: string): Promise<ParsedLines & { name: string }> {
  const name = file === "-" ? "standard input" : safeLine(file);
  const parsed = parseEvalLines(await readText(cli, file, name));
  const count = parsed.lines.length + parsed.errors.length;
  if (count === 0) throw bad(`${name} is empty. Each line must be one message; see: ${cli.self} eval --help`);
  if (count > MAX_LINES) throw bad(`${name} has ${count} lines; the maximum is ${MAX_LINES}. Split it.`);
  for (const [field, lines] of [...parsed.unknownFields].slice(0, SHOWN_FIELDS)) {
    const of = lines === 1 ? "1 line" : `${lines} lines`;
    cli.terminal.note(`The unknown field "${safeLine(field, 80)}" is ignored (${of}).`);
  }
  return { ...parsed, name };
}

async function readText(cli: Cli, file: string, name: string): Promise<string> {
  const bytes = await readInput(cli, file, { what: "messages to evaluate", maxBytes: MAX_BYTES });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw bad(`${name} is not UTF-8 text. Save it as UTF-8.`, error);
  }
}

const pairsOf = (name: string): Set<string> => {
  const text = ` ${name.toLowerCase()} `;
  return new Set(Array.from({ length: text.length - 1 }, (_, position) => text.slice(position, position + 2)));
};

/** Minimum similarity of a suggestion, absolute and relative to the best one. */
const MIN_SIMILARITY = 0.3;
const MIN_SHARE_OF_BEST = 0.6;

const MOST = 3;

/** Returns up to three names that may have been meant, the most similar first (Dice coefficient of letter pairs). */
export function suggestNames(written: string, names: Iterable<string>): string[] {
  const pairs = pairsOf(written);
  const likenessOf = (name: string): number => {
    const other = pairsOf(name);
    let same = 0;
    for (const pair of other) if (pairs.has(pair)) same += 1;
    return (2 * same) / (pairs.size + other.size);
  };
  const rated = [...new Set(names)].map((name) => ({ name, similarity: likenessOf(name) }));
  const best = rated.reduce((most, { similarity }) => Math.max(most, similarity), 0);
  return rated
    .filter(({ similarity }) => similarity >= Math.max(MIN_SIMILARITY, best * MIN_SHARE_OF_BEST))
    .sort((a, b) => b.similarity - a.similarity)
    .slice(0, MOST)
    .map(({ name }) => name);
}

/** A document that a line may name. */
export interface NamedDocument {
  id: string;
  key: string;
  title: string;
  url: string | null;
}

/** A line with resolved names. An absent field is undefined. */
export interface ResolvedLine {
  line: number;
  /** Its id, or its line number. */
  id: string;
  text: string;
  chat: EvalLine["chat"];
  /** Null: no agent. */
  agentId?: string | null | undefined;
  /** IDs of each named document: several documents may have the same title. Null: no document answers. */
  documents?: { name: string; ids: string[] }[] | null | undefined;
  /** Texts of which the answer must contain one. Null: a person must answer. */
  answers?: string[] | null | undefined;
}

/** Suggestions compare every name, so that only this many errors get some. */
const MAX_SUGGESTED = 50;

/**
 * Finds the agents and documents that lines name: agents by name or id, documents by id, key, URL or title, in this
 * order. Returns errors for unknown names, with similar ones.
 */
export function resolveLines(
  lines: readonly EvalLine[],
  { agents, documents }: { agents: readonly Agent[]; documents: readonly NamedDocument[] },
): { lines: ResolvedLine[]; errors: LineError[] } {
  const agentIds = new Map([
    ...agents.map(({ id }) => [id, id] as const),
    ...agents.map((agent) => [agent.name, agent.id] as const),
  ]);
  const documentIds = indexDocuments(documents);
  const errors: LineError[] = [];

  const reportUnknown = (line: number, kind: "agent" | "document", name: string, names: () => Iterable<string>) => {
    const meant = errors.length < MAX_SUGGESTED ? suggestNames(name, names()) : [];
    const advice = meant.length === 0 ? "" : `; did you mean ${meant.map((one) => `"${one}"`).join(" or ")}?`;
    errors.push({ line, error: `${kind}: no ${kind} is named "${name}"${advice}` });
  };
  const namesOfAgents = () => agents.map(({ name }) => name);
  const namesOfDocuments = () =>
    documents.flatMap(({ key, title, url }) => [key, title, ...(url === null ? [] : [url])]);

  const resolved = lines.map(({ line, id, text, chat, agent, document, answer }): ResolvedLine => {
    const agentId = typeof agent === "string" ? agentIds.get(agent) : agent;
    if (typeof agent === "string" && agentId === undefined) reportUnknown(line, "agent", agent, namesOfAgents);
    const found = document?.map((name) => ({ name, ids: documentIds(name) }));
    for (const { name, ids } of found ?? []) {
      if (ids.length === 0) reportUnknown(line, "document", name, namesOfDocuments);
    }
    return {
      line,
      id: id ?? String(line),
      text,
      chat,
      agentId,
      documents: document === null ? null : found,
      answers: answer,
    };
  });
  return { lines: resolved, errors };
}

/** Creates the function that finds documents by name. */
function indexDocuments(documents: readonly NamedDocument[]): (name: string) => string[] {
  const indexes = [
    indexBy(documents, ({ id }) => id),
    indexBy(documents, ({ key }) => key),
    indexBy(documents, ({ url }) => url),
    indexBy(documents, ({ title }) => title),
  ];
  return (name) => indexes.map((index) => index.get(name)).find((ids) => ids !== undefined) ?? [];
}

function indexBy(
  documents: readonly NamedDocument[],
  nameOf: (document: NamedDocument) => string | null,
): Map<string, string[]> {
  const index = new Map<string, string[]>();
  for (const document of documents) {
    const name = nameOf(document);
    if (name === null) continue;
    const ids = index.get(name);
    if (ids === undefined) index.set(name, [document.id]);
    else ids.push(document.id);
  }
  return index;
}
