// Reads a set: its kind follows from its files.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";

/** A document of a set. */
export interface SetDocument {
  id: string | number;
  title?: string;
  text: string;
}

/** Fields of a question or message; the required ones depend on the kind of the set. */
interface Query {
  id: string | number;
  text: string;
}

/** A labeled message. */
export interface Sample {
  text: string;
  label: string;
}

/** A message to route; without a label if unknown. */
export interface TriageQuery extends Query {
  label?: string;
}

/** A project of a triage set; its name is "" if there is only one. */
export interface TriageGroup {
  name: string;
  samples: Sample[];
  queries: TriageQuery[];
}

/** A question about one passage, with people's references if known. */
export interface PassageQuery extends Query {
  passage?: string;
  answerable?: boolean;
  refs: { answer: string; sentences: number[] }[];
}

/** A question to search for. `answers` and `kind` are present if the set has answers. */
export interface SearchQuery extends Query {
  qrels: Record<string, number>;
  kind?: "in_kb" | "out_of_kb" | "adversarial";
  answers?: string[];
}

/** A sentence with slips of speech, and its clean form if known. */
export interface NoteQuery extends Query {
  fluent?: string;
}

/** A transcript, with a summary and questions if known. */
export interface Meeting {
  id: string | number;
  turns: { speaker?: string; text: string }[];
  summary?: { text: string }[];
  questions?: { query: string; spans?: [from: number, to: number][] }[];
}

/** An issue of dictated notes; a value of a field may be several, separated by "|". */
export interface WantedIssue {
  gist: string;
  severity?: string | null;
  person: string | null;
  due?: string | null;
}

/** Dictated notes with their issues marked. */
interface SpokenNotes {
  id: string | number;
  notes: string;
  issues: WantedIssue[];
  part: string;
  language: string;
  day: string;
}

/** A set of one of six kinds. */
export type EvalSet =
  | { kind: "triage"; groups: TriageGroup[] }
  | { kind: "passages"; passages: { id: string; title: string; sentences: string[] }[]; queries: PassageQuery[] }
  | { kind: "notes"; queries: NoteQuery[] }
  | { kind: "spoken"; queries: SpokenNotes[] }
  | { kind: "meetings"; queries: Meeting[] }
  | { kind: "search"; documents: SetDocument[]; queries: SearchQuery[]; wantsAnswers: boolean };
type Kind = EvalSet["kind"];
/** The set of a kind. */
export type SetOf<Name extends Kind> = Extract<EvalSet, { kind: Name }>;

/** Result of an evaluation. */
export interface Evaluation {
  predictions: object[];
  scores: object;
}

const listFiles = (folder: string) => (existsSync(folder) ? readdirSync(folder).sort() : []);

const isTraining = (file: string) => /(?:^|\.)train\.jsonl$/.test(file);
const isCalled = (name: string) => (file: string) => file === name || file === `${name}.gz`;

/** Returns the kind of a set by the files in its folder dev; null if unknown. */
export function kindOf(folder: string): Kind | null {
  const dev = join(folder, "dev");
  const files = listFiles(dev);
  const training = files.find(isTraining);
  if (training !== undefined && readJsonLines<{ label?: string }>(join(dev, training))[0]?.label !== undefined)
    return "triage";
  if (files.some(isCalled("passages.jsonl"))) return "passages";
  if (files.some(isCalled("meetings.jsonl"))) return "meetings";
  if (files.some(isCalled("spoken.jsonl"))) return "spoken";
  if (training !== undefined && readJsonLines<{ fluent?: string }>(join(dev, training))[0]?.fluent !== undefined)
    return "notes";
  return files.some(isCalled("corpus.jsonl")) ? "search" : null;
}

/**
 * A set of one of six kinds: `triage` (dev/train.jsonl, or several dev/NAME.train.jsonl: messages with their label),
 * `passages` (dev/passages.jsonl: passages cut into sentences, and questions about one of them), `notes` (dev/dev.jsonl:
 * sentences with slips and without), `meetings` (dev/meetings.jsonl: what was said, with a summary), `spoken`
 * (dev/spoken.jsonl: dictated notes with their issues marked), or `search` (dev/corpus.jsonl: documents). Fails with what is missing.
 */
export function readSet(
  folder: string,
  { queries, shots }: { queries?: string | undefined; shots?: string | undefined },
): EvalSet {
  const dev = join(folder, "dev");
  const files = listFiles(dev);
  const find = (name: string) => files.find(isCalled(name));
  const read = <Row>(name: string) => readJsonLines<Row>(join(dev, find(name) ?? name));
  const asked = <Row>(name = "queries.jsonl") =>
    queries === undefined ? read<Row>(name) : readJsonLines<Row>(queries);

  const kind = kindOf(folder);
  if (kind === "triage") return { kind, groups: readGroups(dev, files.filter(isTraining), { queries, shots }) };
  if (kind === "passages") return { kind, passages: read("passages.jsonl"), queries: asked() };
  if (kind === "notes") return { kind, queries: asked("dev.jsonl") };
  if (kind === "spoken") return { kind, queries: asked("spoken.jsonl") };
  if (kind === "meetings") return { kind, queries: asked("meetings.jsonl") };
  if (kind === "search") {
    const known = find("queries.jsonl") === undefined ? [] : read<SearchQuery>("queries.jsonl");
    const wantsAnswers = known.length === 0 || known.some((query) => (query.answers ?? query.kind) !== undefined);
    return { kind, documents: read("corpus.jsonl"), queries: asked(), wantsAnswers };
  }
  throw new Error(
    `${dev} has none of train.jsonl or NAME.train.jsonl, passages.jsonl, meetings.jsonl, spoken.jsonl and corpus.jsonl (or .gz).`,
  );
}

/** Returns each project's training messages and queries; a project without queries is left out. */
function readGroups(
  dev: string,
  training: readonly string[],
  { queries, shots }: { queries?: string | undefined; shots?: string | undefined },
): TriageGroup[] {
  const names = training.map((file) => file.slice(0, -".train.jsonl".length));
  const ownQueries = (name: string) =>
    readJsonLines<TriageQuery>(join(dev, name === "" ? "test.jsonl" : `${name}.test.jsonl`));
  const rowsOf = queries === undefined ? ownQueries : assignRows(readJsonLines(queries), names, basename(queries));
  const readSamples = (file: string) => {
    const counts = new Map<string, number>();
    return readJsonLines<Sample>(join(dev, file)).filter(({ label }) => {
      const count = (counts.get(label) ?? 0) + 1;
      counts.set(label, count);
      return shots === undefined || count <= Number(shots);
    });
  };
  return training.flatMap((file, index) => {
    const name = names[index] ?? "";
    const rows = rowsOf(name);
    return rows.length === 0 ? [] : [{ name, samples: readSamples(file), queries: rows }];
  });
}

/**
 * Assigns each message to one project: the only one, else that of its field `bot`, else the prefix of its id, else the
 * prefix of the file name. Throws if none applies.
 */
function assignRows(rows: readonly (TriageQuery & { bot?: string })[], names: readonly string[], fileName: string) {
  const ofFile = names.find((name) => belongs(fileName, name));
  const projectOf = ({ bot, id }: { bot?: string; id: string | number }) => {
    if (names.length === 1) return names[0];
    if (bot !== undefined && names.includes(bot)) return bot;
    const name = names.find((one) => belongs(String(id), one)) ?? ofFile;
    if (name !== undefined) return name;
    throw new Error(
      `Nothing says which project the message ${id} is for. Let its field "bot", its id or the name of the file begin with one of: ${names.join(", ")}.`,
    );
  };
  const assigned = rows.map((row) => ({ row, project: projectOf(row) }));
  return (name: string) => assigned.filter(({ project }) => project === name).map(({ row }) => row);
}

const belongs = (text: string, name: string) =>
  text === name || text.startsWith(`${name}-`) || text.startsWith(`${name}.`);

/** Returns the rows of a file of JSON lines, which may be compressed. */
export function readJsonLines<Row>(path: string): Row[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as Row);
}

// Prints the progress of long work to stderr.
const EVERY_MS = process.stderr.isTTY ? 200 : 5_000;

/** Calls `work` with each item in turn, and returns the results in order. */
export async function forEachShown<Item, Result>(
  what: string,
  items: readonly Item[],
  work: (item: Item) => Result | Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const startedAt = performance.now();
  let shownAt = startedAt;
  const show = (end: string) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    process.stderr.write(
      `${process.stderr.isTTY ? "\r" : ""}${what} ${results.length} of ${items.length}, ${seconds} s${end}`,
    );
  };
  for (const item of items) {
    results.push(await work(item));
    if (performance.now() - shownAt < EVERY_MS) continue;
    shownAt = performance.now();
    show(process.stderr.isTTY ? "" : "\n");
  }
  show("\n");
  return results;
}
