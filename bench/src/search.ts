// How long a search takes in knowledge bases of several sizes, and how long it takes to fill them.
import { addDocuments, ensureKb, searchKnowledge } from "@svc/knowledge";
import { migrateStore, openStore } from "@svc/store";
import { queryDatabase } from "@svc/testing";
import { POST } from "./bench-product.ts";
import type { Bench } from "./bench-product.ts";
import { percentile } from "./load.ts";
import { countCpu, loadOf, printFigure } from "./measure.ts";
import { untilQuiet } from "./processes.ts";
import type { Groups } from "./processes.ts";
import { benchLog as log } from "./product.ts";
import type { PrepareStore } from "./product.ts";
import { createCorpus } from "./search-corpus.ts";

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
