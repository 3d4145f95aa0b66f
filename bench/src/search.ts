// How long a search takes in knowledge bases of several sizes, and how long it takes to fill them.
import { addDocuments, ensureKb, searchKnowledge } from "@svc/knowledge";
import { migrateStore, openStore } from "@svc/store";
import { percentile } from "./load.ts";
import { countCpu, printFigure } from "./measure.ts";
import { quietLog } from "./product.ts";
import { untilQuiet } from "./processes.ts";
import { createCorpus } from "./search-corpus.ts";

const SEARCHES_AT_ONCE = 2;
const LIMIT = 5;

async function runSearches(search, makeQuery, { seconds, groups }) {
  await untilQuiet();
  const endCount = countCpu(groups);
  const times = [];
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

/** The run with the lowest p95: what other processes do on this machine can only make it slower. */
async function quietestRun(search, makeQuery, { runs, ...options }) {
  const all = [];
  for (let run = 0; run < runs; run += 1) all.push(await runSearches(search, makeQuery, options));
  return all.sort((a, b) => a.p95 - b.p95)[0];
}

/** Measures a knowledge base of each size in a database of its own. */
export async function measureSearches({ sizes, createDatabase, groups, runs, seconds }) {
  for (const size of sizes) {
    const url = await createDatabase(`search_${size}`);
    await migrateStore(url, quietLog);
    const store = openStore({ url, secretKey: "a benchmark seals nothing 0123456789", log: quietLog });
    try {
      const { project } = await store.projects.ensure("default");
      const { kb } = await ensureKb({ store }, project.id, "bench");
      const corpus = createCorpus(size);
      const startedAt = performance.now();
      const endCount = countCpu(groups);
      await addDocuments({ store, log: quietLog }, project.id, kb.id, corpus.documents);
      const took = (performance.now() - startedAt) / 1_000;
      const [{ chunkCount }] = await store.kbs.findAll(project.id, [kb.id]);
      const speed = `${took.toFixed(1)} s  ${Math.round(chunkCount / took)} passages/s`;
      printFigure(
        `ingest of ${corpus.documents.length} documents, ${chunkCount} passages`,
        speed,
        endCount(chunkCount),
      );
      const search = (query) => searchKnowledge({ store }, project.id, { query, kbIds: [kb.id], limit: LIMIT });
      const options = { runs, seconds, groups };
      const queries = { search: corpus.query, "search for 8 very common words": corpus.commonQuery };
      for (const [name, makeQuery] of Object.entries(queries)) {
        await runSearches(search, makeQuery, { ...options, seconds: 1 });
        const { p50, p95, count, ...counted } = await quietestRun(search, makeQuery, options);
        const times = `p50 ${p50.toFixed(1)} ms  p95 ${p95.toFixed(1)} ms  ${count} searches`;
        printFigure(`${name}, ${chunkCount} passages, ${SEARCHES_AT_ONCE} at once`, times, counted);
      }
    } finally {
      await store.close();
    }
  }
}
