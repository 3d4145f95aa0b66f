import type { Log } from "@svc/log";
import { withinMs } from "@svc/primitives";
import { createBriefCache } from "@svc/store";
import type { EmbeddedKb, ProjectId, Store } from "@svc/store";

/** Embeddings of passages in one array in memory. Created and changed by the functions of this file. */
export interface VectorTable {
  readonly dimensions: number;
  /** By row. */
  ids: string[];
  rows: Map<string, number>;
  /** Capacity for at least `ids.length` rows. */
  numbers: Float32Array;
}

/** Approximate memory of an id, its row and its map entry, besides the numbers. */
const ROW_BYTES = 160;

/** Spare capacity, so that a few more rows do not copy everything. */
const SPARE_SHARE = 1.1;

/** Creates an empty table with capacity for the given number of rows. */
export function createVectorTable(dimensions: number, rowCount: number): VectorTable {
  return { dimensions, ids: [], rows: new Map(), numbers: new Float32Array(rowCount * dimensions) };
}

/** Returns the approximate memory of a table with the given number of rows, in bytes. */
export function sizeOfTable(rowCount: number, dimensions: number): number {
  return Math.ceil(rowCount * (dimensions * Float32Array.BYTES_PER_ELEMENT * SPARE_SHARE + ROW_BYTES));
}

/** Adds rows; an existing id gets the new embedding. */
export function addRows(table: VectorTable, rows: readonly { chunkId: string; embedding: Float32Array }[]): void {
  const { dimensions } = table;
  const needed = (table.ids.length + rows.length) * dimensions;
  if (needed > table.numbers.length) {
    const grown = new Float32Array(Math.ceil((needed / dimensions) * SPARE_SHARE) * dimensions);
    grown.set(table.numbers.subarray(0, table.ids.length * dimensions));
    table.numbers = grown;
  }
  for (const { chunkId, embedding } of rows) {
    const row = table.rows.get(chunkId) ?? table.ids.push(chunkId) - 1;
    table.rows.set(chunkId, row);
    table.numbers.set(embedding, row * dimensions);
  }
}

/** Removes a row and moves the last one to its position. */
export function removeRow(table: VectorTable, chunkId: string): void {
  const row = table.rows.get(chunkId);
  const last = table.ids.at(-1);
  if (row === undefined || last === undefined) return;
  const { dimensions, numbers } = table;
  numbers.copyWithin(row * dimensions, (table.ids.length - 1) * dimensions, table.ids.length * dimensions);
  table.ids[row] = last;
  table.rows.set(last, row);
  table.ids.pop();
  table.rows.delete(chunkId);
}

/** Returns the cosine of a row and the query, both of length 1. */
function compareRow({ dimensions, numbers }: VectorTable, row: number, query: Float32Array): number {
  const start = row * dimensions;
  const fourfold = dimensions - (dimensions % 4);
  // Four independent sums are half again as fast as one.
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let position = 0; position < fourfold; position += 4) {
    a += (numbers[start + position] ?? 0) * (query[position] ?? 0);
    b += (numbers[start + position + 1] ?? 0) * (query[position + 1] ?? 0);
    c += (numbers[start + position + 2] ?? 0) * (query[position + 2] ?? 0);
    d += (numbers[start + position + 3] ?? 0) * (query[position + 3] ?? 0);
  }
  for (let position = fourfold; position < dimensions; position += 1)
    a += (numbers[start + position] ?? 0) * (query[position] ?? 0);
  return a + b + c + d;
}

/** Returns the cosine of each row and the query, all of length 1. 20,000 rows of 768 numbers take about 10 ms. */
export function compareRows(table: VectorTable, query: Float32Array): Float32Array {
  const cosines = new Float32Array(table.ids.length);
  for (let row = 0; row < cosines.length; row += 1) cosines[row] = compareRow(table, row, query);
  return cosines;
}

/** Returns the cosine of a passage and the query; undefined if no table has the passage. */
export function findCosine(tables: readonly VectorTable[], query: Float32Array, chunkId: string): number | undefined {
  for (const table of tables) {
    const row = table.rows.get(chunkId);
    if (row !== undefined) return compareRow(table, row, query);
  }
  return undefined;
}

/** Returns the passages of these tables that are most similar to the query, best first, with their cosines. */
export function findClosestRows(
  tables: readonly VectorTable[],
  query: Float32Array,
  limit: number,
): { chunkId: string; cosine: number }[] {
  const compared = tables.map((table) => ({ table, cosines: compareRows(table, query) }));
  const all = new Float32Array(compared.reduce((sum, { cosines }) => sum + cosines.length, 0));
  let filled = 0;
  for (const { cosines } of compared) {
    all.set(cosines, filled);
    filled += cosines.length;
  }
  const least = all.sort()[Math.max(0, all.length - limit)] ?? 0;
  return compared
    .flatMap(({ table, cosines }) =>
      table.ids.flatMap((chunkId, row) => {
        const cosine = cosines[row] ?? 0;
        return cosine >= least ? [{ chunkId, cosine }] : [];
      }),
    )
    .sort((a, b) => b.cosine - a.cosine || (a.chunkId < b.chunkId ? -1 : 1))
    .slice(0, limit);
}

/** Embeddings of whole knowledge bases in the memory of this process. */
interface VectorCache {
  /**
   * Returns the embeddings of all passages of the project's knowledge bases among these, or null if they cannot be
   * compared as a whole: they have more than 20,000 passages together, need more memory than is available, or are still
   * being read. A change is visible within about two seconds. Rejects when the store does.
   */
  find(project: ProjectId, kbIds: readonly string[], dimensions: number): Promise<VectorTable[] | null>;
  /** Stops background work and resolves when the store is no longer used. */
  close(): Promise<void>;
}

/** Options; `openVectorCache` documents the defaults. */
export interface VectorCacheOptions {
  store: Store;
  log: Log;
  model: string;
  /** Memory limit of all knowledge bases together. */
  maxBytes?: number;
  /** Time until a knowledge base is checked for changes again. */
  freshMs?: number;
  /** Minimum time since the last use before eviction. */
  keptMs?: number;
}

/** Larger knowledge bases are not compared as a whole: that would take too long and too much memory. */
const MAX_COMPARED_CHUNKS = 20_000;

const MAX_BYTES = 256 * 1024 * 1024;
const FRESH_MS = 1_000;

/** Time a search waits for knowledge bases that are read for the first time. */
const FIRST_READ_WAIT_MS = 300;

/** Minimum time since the last use before eviction, so that two knowledge bases do not evict each other repeatedly. */
const KEPT_MS = 30_000;

/** Delay after a read that failed or had no memory. */
const REST_MS = 5_000;

/** Rows per read: some 5 ms of this process's time for 768 dimensions. */
const PAGE_ROWS = 100;

interface Entry {
  readonly project: ProjectId;
  readonly kbId: string;
  table: VectorTable | null;
  sizeBytes: number;
  /** Version mark of the table. */
  mark: string | null;
  usedAtMs: number;
  isBeingRead: boolean;
  /** Settles when the last read has ended, successfully or not. */
  reading: Promise<void>;
  restsUntilMs: number;
}

type Entries = Map<string, Entry>;

/**
 * Caches the embeddings of knowledge bases: read when a search first needs them, updated in the background when their
 * mark, polled once a second, changes, and evicted when others need the memory. All together take at most 256 MB per
 * process, which is 80,000 passages of 768 dimensions.
 */
export function openVectorCache(options: VectorCacheOptions): VectorCache {
  const { store, log, model, maxBytes = MAX_BYTES, freshMs = FRESH_MS, keptMs = KEPT_MS } = options;
  const entries: Entries = new Map();
  const marks = createBriefCache<EmbeddedKb[]>(freshMs);
  const closing = new AbortController();

  /** Updates an outdated entry, one reader at a time. */
  function refresh(entry: Entry, base: EmbeddedKb, dimensions: number): void {
    const isCurrent = entry.mark === base.mark && entry.table?.dimensions === dimensions;
    if (isCurrent || entry.isBeingRead || closing.signal.aborted || performance.now() < entry.restsUntilMs) return;
    entry.isBeingRead = true;
    const hasRoom = (sizeBytes: number) => makeRoom(entries, entry, { sizeBytes, maxBytes, keptMs });
    entry.reading = readEntry(entry, base, { store, log, model, dimensions, signal: closing.signal, hasRoom })
      .catch((error: unknown) => {
        entry.restsUntilMs = performance.now() + REST_MS;
        log.debug({ error, kbId: entry.kbId }, "failed to read embeddings");
      })
      .finally(() => {
        entry.isBeingRead = false;
      });
  }

  return {
    async find(project, kbIds, dimensions) {
      const sorted = [...new Set(kbIds)].sort();
      const bases =
        (await marks.get(`${project} ${sorted.join(" ")}`, () =>
          store.chunkEmbeddings.findMarks(project, { kbIds: sorted, model, maxChunks: MAX_COMPARED_CHUNKS }),
        )) ?? [];
      const chunkCount = bases.reduce((sum, base) => sum + base.chunkCount, 0);
      const rowCount = bases.reduce((sum, base) => sum + base.embeddedCount, 0);
      if (chunkCount > MAX_COMPARED_CHUNKS || sizeOfTable(rowCount, dimensions) > maxBytes) return null;

      const filled = bases.filter((base) => base.embeddedCount > 0);
      const used = filled.map((base) => {
        const entry = entryOf(entries, project, base.kbId);
        refresh(entry, base, dimensions);
        return entry;
      });
      const unread = used.filter(({ table }) => table?.dimensions !== dimensions);
      if (unread.length > 0) await withinMs(Promise.all(unread.map(({ reading }) => reading)), FIRST_READ_WAIT_MS);
      const tables = used.flatMap(({ table }) => (table?.dimensions === dimensions ? [table] : []));
      return tables.length === used.length ? tables : null;
    },

    async close() {
      closing.abort();
      await Promise.all([...entries.values()].map(({ reading }) => reading));
      entries.clear();
    },
  };
}

function entryOf(entries: Entries, project: ProjectId, kbId: string): Entry {
  const name = `${project} ${kbId}`;
  const entry = entries.get(name) ?? {
    project,
    kbId,
    table: null,
    sizeBytes: 0,
    mark: null,
    usedAtMs: 0,
    isBeingRead: false,
    reading: Promise.resolve(),
    restsUntilMs: 0,
  };
  entries.set(name, entry);
  entry.usedAtMs = performance.now();
  return entry;
}

/** Evicts the least recently used entries to free memory; returns false if that is not enough. */
function makeRoom(
  entries: Entries,
  entry: Entry,
  { sizeBytes, maxBytes, keptMs }: { sizeBytes: number; maxBytes: number; keptMs: number },
): boolean {
  const others = [...entries].filter(([, other]) => other !== entry);
  let total = others.reduce((sum, [, other]) => sum + other.sizeBytes, sizeBytes);
  const idle = others
    .filter(([, other]) => !other.isBeingRead && performance.now() - other.usedAtMs > keptMs)
    .sort(([, a], [, b]) => a.usedAtMs - b.usedAtMs);
  for (const [name, other] of idle) {
    if (total <= maxBytes) break;
    total -= other.sizeBytes;
    entries.delete(name);
  }
  return total <= maxBytes;
}

interface ReadDeps {
  store: Store;
  log: Log;
  model: string;
  dimensions: number;
  signal: AbortSignal;
  hasRoom: (sizeBytes: number) => boolean;
}

/** Reads the embeddings of a knowledge base that are not in memory, or none if there is not enough memory. */
async function readEntry(
  entry: Entry,
  base: EmbeddedKb,
  { store, log, model, dimensions, signal, hasRoom }: ReadDeps,
): Promise<void> {
  const { project, kbId } = entry;
  const ids = await store.chunkEmbeddings.listEmbedded(project, kbId, { model, dimensions });
  const sizeBytes = sizeOfTable(ids.length, dimensions);
  if (!hasRoom(sizeBytes)) {
    log.debug({ kbId, sizeBytes }, "not enough memory to compare a whole knowledge base");
    Object.assign(entry, { table: null, sizeBytes: 0, mark: null, restsUntilMs: performance.now() + REST_MS });
    return;
  }
  entry.sizeBytes = sizeBytes;
  const known = entry.table?.dimensions === dimensions ? entry.table : null;
  const table = known ?? createVectorTable(dimensions, ids.length);
  const live = new Set(ids);
  for (const id of table.ids.filter((held) => !live.has(held))) removeRow(table, id);
  const missing = ids.filter((id) => !table.rows.has(id));
  for (let first = 0; first < missing.length && !signal.aborted; first += PAGE_ROWS) {
    const page = missing.slice(first, first + PAGE_ROWS);
    addRows(table, await store.chunkEmbeddings.read(project, { kbIds: [kbId], chunkIds: page }, { model, dimensions }));
  }
  // The mark was read before the ids, so any change in between changes it again.
  entry.table = table;
  entry.mark = base.mark;
}
