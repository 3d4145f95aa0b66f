// How long a search takes in knowledge bases of several sizes, and how long it takes to fill them.
import { addDocuments, ensureKb, searchKnowledge } from "@svc/knowledge";
import { migrateStore, openStore } from "@svc/store";
import { queryDatabase, randomFrom } from "@svc/testing";
import { POST, benchLog as log } from "./product.ts";
import type { Bench, PrepareStore } from "./product.ts";
import { countCpu, loadOf, percentile, printFigure } from "./measure.ts";
import { untilQuiet } from "./processes.ts";
import type { Groups } from "./processes.ts";

// Text that is made up, the same each time, with words as common, as rare and as long as in real text.

/** Distinct words; the hundred commonest are English function words, which a search leaves out. */
const VOCABULARY = 200_000;
const FUNCTION_WORDS =
  "the of and to in a is that for it was on are as with be by at this have from or had but not what all were when we there can an your which their if do will each how them then she many some so these would other into has her two like him see time could no make than first been its who now people my made over did down only way find use may water long little very after".split(
    " ",
  );
const PASSAGE_WORDS: Range = [60, 150];
const QUERY_WORDS: Range = [5, 14];
type Range = readonly [least: number, most: number];

const SYLLABLES =
  "ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no nu pa pe pi po pu ra re ri ro ru sa se si so su ta te ti to tu va ve vi vo vu".split(
    " ",
  );

/** The word of this rank, from 0: the commoner, the lower. */
export function wordOfRank(rank: number): string {
  const known = FUNCTION_WORDS[rank];
  if (known !== undefined) return known;
  let rest = rank;
  let word = "";
  do {
    word += SYLLABLES[rest % SYLLABLES.length];
    rest = Math.floor(rest / SYLLABLES.length);
  } while (rest > 0);
  return `${word}x`;
}

/** Documents of about `chunks` passages in all, and queries about them. */
export function createCorpus(chunks: number, seed = 1) {
  const random = randomFrom(seed);
  const between = ([least, most]: Range) => least + Math.floor(random() * (most - least + 1));
  // Zipf's law: the word of rank r is 1/r times as common as the first, so the logarithm of the rank is uniform.
  const word = () => wordOfRank(Math.floor(VOCABULARY ** random()) - 1);
  const words = (count: number) => Array.from({ length: count }, word);
  const pick = <Item>(list: readonly Item[]): Item => {
    const item = list[Math.floor(random() * list.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  };
  // Words of a document's topic are frequent in it.
  const passage = (subjects: readonly string[]) =>
    Array.from({ length: between(PASSAGE_WORDS) }, () => (random() < 0.1 ? pick(subjects) : word()));
  const sentences = (list: readonly string[]) => {
    const parts: string[] = [];
    for (let from = 0; from < list.length; from += 15) parts.push(`${list.slice(from, from + 15).join(" ")}.`);
    return parts.join(" ");
  };
  const documents: { key: string; title: string; text: string; mime: string }[] = [];
  const asked: string[][] = [];
  let made = 0;
  while (made < chunks) {
    const count = Math.min(chunks - made, Math.floor(20 ** random()));
    const subjects = words(8);
    const title = words(between([2, 5])).join(" ");
    const passages = Array.from({ length: count }, () => passage(subjects));
    const sections = passages.map((list) => `## ${words(between([1, 4])).join(" ")}\n\n${sentences(list)}\n`);
    documents.push({ key: `document-${documents.length}.md`, title, text: sections.join("\n"), mime: "text/markdown" });
    asked.push(...passages.slice(0, 1));
    made += count;
  }
  /** Returns words of one passage, including common ones, and as many of the five thousand most common words. */
  const query = () => {
    const from = pick(asked);
    const next = () => (random() < 0.5 ? pick(from) : wordOfRank(Math.floor(5_000 ** random()) - 1));
    return `${Array.from({ length: between(QUERY_WORDS) }, next).join(" ")}?`;
  };
  /** Words of one passage: what the base has an answer to. */
  const question = () => {
    const from = pick(asked).filter((one) => !FUNCTION_WORDS.includes(one));
    return `${Array.from({ length: 8 }, () => pick(from)).join(" ")}?`;
  };
  /** Returns only the most common words that are not stop words: each occurs in many passages. */
  const commonQuery = () =>
    Array.from({ length: 8 }, () => wordOfRank(FUNCTION_WORDS.length + Math.floor(random() * 20))).join(" ");
  return { documents, query, question, commonQuery };
}

/** Adds an agent that answers from a knowledge base of made-up documents. */
export const answerFromCorpus =
  ({ documents }: ReturnType<typeof createCorpus>): PrepareStore =>
  async (store, project) => {
    const { kb } = await ensureKb({ store }, project.id, "bench");
    await addDocuments({ store, log }, project.id, kb.id, documents);
    await store.agents.insert(project.id, { name: "search", kbIds: [kb.id], reviewPolicy: "auto" });
  };

/** Measures searches by themselves in knowledge bases of several sizes, then a product that searches for each message. */
export async function measureSearch(bench: Bench) {
  for (const size of bench.options.sizes) await measureSearches(bench, size);
  const { servers, options, measureAll } = bench;
  const corpus = createCorpus(1_000);
  await bench.withProduct(
    "search",
    { prepareStore: answerFromCorpus(corpus) },
    async ({ urlsOf, databaseUrl, groups }) => {
      const [row] = await queryDatabase<{ count: string }>(
        databaseUrl,
        "SELECT count(*) AS count FROM chunks c JOIN kbs k ON k.id = c.kb_id WHERE k.name = 'bench'",
      );
      const body = () => JSON.stringify({ text: corpus.question() });
      for (const connections of options.connections) {
        const name = `product, ${row?.count} chunks searched, sync, ${connections} connections`;
        const request = { ...POST, urls: urlsOf("api"), connections, body };
        await measureAll([loadOf(name, { ...groups, ...servers }, request)]);
      }
    },
  );
}

const SEARCHES_AT_ONCE = 2;
const LIMIT = 5;

type Search = (query: string) => Promise<unknown>;

async function runSearches(search: Search, makeQuery: () => string, seconds: number, groups: Groups) {
  await untilQuiet();
  const endCount = countCpu(groups);
  const times: number[] = [];
  const until = performance.now() + seconds * 1_000;
  await Promise.all(
    Array.from({ length: SEARCHES_AT_ONCE }, async () => {
      while (performance.now() < until) {
        const startedAt = performance.now();
        await search(makeQuery());
        times.push(performance.now() - startedAt);
      }
    }),
  );
  const sorted = Float64Array.from(times).sort();
  const [p50, p95] = [percentile(sorted, 0.5), percentile(sorted, 0.95)];
  return { p50, p95, count: times.length, ...endCount(times.length) };
}

/** Measures a knowledge base of this many passages in its own database. */
async function measureSearches({ createDatabase, servers, options: { runs, seconds } }: Bench, size: number) {
  const groups = { postgres: servers["postgres"] ?? 0 };
  const url = await createDatabase(`search_${size}`);
  await migrateStore(url, log);
  const store = openStore({ url, secretKey: "a benchmark seals nothing 0123456789", log });
  try {
    const { project } = await store.projects.ensure("default");
    const { kb } = await ensureKb({ store }, project.id, "bench");
    const corpus = createCorpus(size);
    const startedAt = performance.now();
    const endCount = countCpu(groups);
    await addDocuments({ store, log }, project.id, kb.id, corpus.documents);
    const took = (performance.now() - startedAt) / 1_000;
    const [{ chunkCount } = { chunkCount: 0 }] = await store.kbs.findAll(project.id, [kb.id]);
    const speed = `${took.toFixed(1)} s  ${Math.round(chunkCount / took)} passages/s`;
    printFigure(`ingest of ${corpus.documents.length} documents, ${chunkCount} passages`, speed, endCount(chunkCount));
    const search = (query: string) => searchKnowledge({ store }, project.id, { query, kbIds: [kb.id], limit: LIMIT });
    const queries = { search: corpus.query, "search for 8 very common words": corpus.commonQuery };
    for (const [name, makeQuery] of Object.entries(queries)) {
      await runSearches(search, makeQuery, 1, groups);
      const all = [];
      for (let run = 0; run < runs; run += 1) all.push(await runSearches(search, makeQuery, seconds, groups));
      // Other processes of this machine can only make a run slower.
      const [quietest] = all.sort((a, b) => a.p95 - b.p95);
      if (quietest === undefined) return;
      const times = `p50 ${quietest.p50.toFixed(1)} ms  p95 ${quietest.p95.toFixed(1)} ms  ${quietest.count} searches`;
      printFigure(`${name}, ${chunkCount} passages, ${SEARCHES_AT_ONCE} at once`, times, quietest);
    }
  } finally {
    await store.close();
  }
}
