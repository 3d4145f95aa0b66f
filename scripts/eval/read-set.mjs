// Reads a set: what kind it is by the files that it has, what the product is to know, and what it is asked.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";

/**
 * A set of one of three kinds: `triage` (dev/train.jsonl, or several dev/NAME.train.jsonl: messages with their label),
 * `passages` (dev/passages.jsonl: passages cut into sentences, and questions about one of them), or `search`
 * (dev/corpus.jsonl: documents). Fails with what is missing.
 */
export function readSet(folder, { queries, shots }) {
  const dev = join(folder, "dev");
  const files = existsSync(dev) ? readdirSync(dev).sort() : [];
  const find = (name) => files.find((file) => file === name || file === `${name}.gz`);
  const read = (file) => readJsonLines(join(dev, file));
  const asked = () => readJsonLines(queries ?? join(dev, find("queries.jsonl") ?? "queries.jsonl"));

  const training = files.filter((file) => /(?:^|\.)train\.jsonl$/.test(file));
  if (training.length > 0) return { kind: "triage", groups: training.flatMap((file) => readGroup(file)) };
  const passages = find("passages.jsonl");
  if (passages !== undefined) return { kind: "passages", passages: read(passages), queries: asked() };
  const corpus = find("corpus.jsonl");
  if (corpus === undefined) {
    throw new Error(`${dev} has none of train.jsonl, NAME.train.jsonl, passages.jsonl and corpus.jsonl (or .gz).`);
  }
  const known = find("queries.jsonl");
  const isAnswered = (query) => query.answers !== undefined || query.kind !== undefined;
  const wantsAnswers = known === undefined || read(known).some(isAnswered);
  return { kind: "search", documents: read(corpus), queries: asked(), wantsAnswers };

  /** One project's training messages and what it is asked; a project that a file of queries does not name has none. */
  function readGroup(file) {
    const name = file.slice(0, -".train.jsonl".length);
    const counts = new Map();
    const samples = read(file).filter(({ label }) => {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      return shots === undefined || counts.get(label) <= Number(shots);
    });
    if (queries === undefined)
      return [{ name, samples, queries: read(name === "" ? "test.jsonl" : `${name}.test.jsonl`) }];
    const isOurs = ({ bot, id }) =>
      training.length === 1 ||
      bot === name ||
      (bot === undefined && belongs(String(id), name)) ||
      belongs(basename(queries), name);
    const rows = readJsonLines(queries).filter(isOurs);
    return rows.length === 0 ? [] : [{ name, samples, queries: rows }];
  }
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
