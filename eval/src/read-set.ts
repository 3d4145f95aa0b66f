// Reads a set: what kind it is by the files that it has, what the product is to know, and what it is asked.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";

const listFiles = (folder) => (existsSync(folder) ? readdirSync(folder).sort() : []);

const isTraining = (file) => /(?:^|\.)train\.jsonl$/.test(file);
const isCalled = (name) => (file) => file === name || file === `${name}.gz`;

/** Of what kind a set is, by what lies in its folder dev; null for one of another kind. */
export function kindOf(folder) {
  const dev = join(folder, "dev");
  const files = listFiles(dev);
  const training = files.find(isTraining);
  if (training !== undefined && readJsonLines(join(dev, training))[0]?.label !== undefined) return "triage";
  if (files.some(isCalled("passages.jsonl"))) return "passages";
  if (files.some(isCalled("meetings.jsonl"))) return "meetings";
  if (files.some(isCalled("spoken.jsonl"))) return "spoken";
  if (training !== undefined && readJsonLines(join(dev, training))[0]?.fluent !== undefined) return "notes";
  return files.some(isCalled("corpus.jsonl")) ? "search" : null;
}

/**
 * A set of one of six kinds: `triage` (dev/train.jsonl, or several dev/NAME.train.jsonl: messages with their label),
 * `passages` (dev/passages.jsonl: passages cut into sentences, and questions about one of them), `notes` (dev/dev.jsonl:
 * sentences with slips and without), `meetings` (dev/meetings.jsonl: what was said, with a summary), `spoken`
 * (dev/spoken.jsonl: dictated notes with their issues marked), or `search` (dev/corpus.jsonl: documents). Fails with what is missing.
 */
export function readSet(folder, { queries, shots }) {
  const dev = join(folder, "dev");
  const files = listFiles(dev);
  const find = (name) => files.find(isCalled(name));
  const read = (file) => readJsonLines(join(dev, file));
  const asked = () => readJsonLines(queries ?? join(dev, find("queries.jsonl") ?? "queries.jsonl"));

  const training = files.filter(isTraining);
  const kind = kindOf(folder);
  const readOfKind = {
    triage: () => ({ groups: readGroups() }),
    passages: () => ({ passages: read(find("passages.jsonl")), queries: asked() }),
    notes: () => ({ queries: readJsonLines(queries ?? join(dev, find("dev.jsonl") ?? "dev.jsonl")) }),
    spoken: () => ({ queries: readJsonLines(queries ?? join(dev, "spoken.jsonl")) }),
    meetings: () => ({ queries: queries === undefined ? read(find("meetings.jsonl")) : readJsonLines(queries) }),
    search: () => ({ documents: read(find("corpus.jsonl")), queries: asked(), wantsAnswers: wantsAnswers() }),
  }[kind];
  if (readOfKind === undefined) {
    throw new Error(
      `${dev} has none of train.jsonl or NAME.train.jsonl, passages.jsonl, meetings.jsonl, spoken.jsonl and corpus.jsonl (or .gz).`,
    );
  }
  return { kind, ...readOfKind() };

  function wantsAnswers() {
    const known = find("queries.jsonl");
    const isAnswered = (query) => query.answers !== undefined || query.kind !== undefined;
    return known === undefined || read(known).some(isAnswered);
  }

  /** Each project's training messages and what it is asked; a project that a file of queries has nothing for is left out. */
  function readGroups() {
    const names = training.map((file) => file.slice(0, -".train.jsonl".length));
    const rowsOf = queries === undefined ? ownQueries : assignRows(readJsonLines(queries), names, basename(queries));
    return training.flatMap((file, index) => {
      const rows = rowsOf(names[index]);
      return rows.length === 0 ? [] : [{ name: names[index], samples: readSamples(file), queries: rows }];
    });
  }

  function ownQueries(name) {
    return read(name === "" ? "test.jsonl" : `${name}.test.jsonl`);
  }

  function readSamples(file) {
    const counts = new Map();
    return read(file).filter(({ label }) => {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      return shots === undefined || counts.get(label) <= Number(shots);
    });
  }
}

/**
 * Gives each message to the one project that it is for: the only one, else the one that its field `bot` names, else the
 * one that its id begins with, else the one that the name of the file begins with. Fails for a message that nothing says
 * this of.
 */
function assignRows(rows, names, fileName) {
  const ofFile = names.find((name) => belongs(fileName, name));
  const projectOf = ({ bot, id }) => {
    if (names.length === 1) return names[0];
    if (names.includes(bot)) return bot;
    const name = names.find((one) => belongs(String(id), one)) ?? ofFile;
    if (name !== undefined) return name;
    throw new Error(
      `Nothing says which project the message ${id} is for. Let its field "bot", its id or the name of the file begin with one of: ${names.join(", ")}.`,
    );
  };
  const assigned = rows.map((row) => ({ row, project: projectOf(row) }));
  return (name) => assigned.filter(({ project }) => project === name).map(({ row }) => row);
}

const belongs = (text, name) => text === name || text.startsWith(`${name}-`) || text.startsWith(`${name}.`);

function readJsonLines(path) {
  const bytes = readFileSync(path);
  const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line));
}
