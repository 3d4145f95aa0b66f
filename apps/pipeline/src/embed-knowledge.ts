import { setTimeout as delay } from "node:timers/promises";
import type { Embedder } from "@svc/knowledge";
import type { Log } from "@svc/log";
import { errorMessage } from "@svc/primitives";
import { isUnavailable } from "@svc/store";
import type { ChunkEmbedding, ClaimedChunk, EmbeddingModel, Store } from "@svc/store";

/** What the worker works with. */
export interface EmbeddingWork {
  store: Store;
  log: Log;
  embedder: Embedder;
}

/** How often and how much; tests put their own here. */
export interface EmbeddingPace {
  /** How often a worker with nothing to do looks for new passages: one statement that touches next to nothing. */
  pollMs: number;
  /** The first wait after a fault; each further one is twice as long, up to `maxWaitMs`. */
  firstWaitMs: number;
  maxWaitMs: number;
}

const PACE: EmbeddingPace = { pollMs: 2_000, firstWaitMs: 2_000, maxWaitMs: 30_000 };

/** Passages in a request: few enough that queries need not wait long behind it, more on a fast server. */
const BATCH = { first: 8, most: 32, shortMs: 1_000, longMs: 3_000 } as const;

/** Whatever was made within this time may have been committed only now. */
const OVERLAP_MS = 600_000;

/** All passages are looked at so often, in case that one was missed. */
const FULL_CHECK_MS = 600_000;

const REPORT_MS = 30_000;

/** A text that every endpoint takes. */
const PROBE = "passage";

/**
 * Embeds the passages of all knowledge bases that have no embedding of the configured model yet, and goes on to look
 * for new ones until `signal` is aborted: a new document is embedded within seconds. Runs in every replica; they share
 * the work, since each takes its passages from the database for two minutes, in turns (`store.chunkEmbeddings.claim`).
 * A replica that dies leaves its passages to the others after that time; one that is slower than that does harmless
 * double work. While the endpoint or the store is away it waits, up to 30 s at a time, and says so once.
 *
 * The model of the replica that began last counts: another model makes all passages be embedded again, and replicas
 * that are configured with a former one leave off. Ends within a moment after the abort, gives back what it had taken,
 * and never rejects.
 */
export async function embedKnowledge(
  work: EmbeddingWork,
  signal: AbortSignal,
  pace: EmbeddingPace = PACE,
): Promise<void> {
  const { log, embedder } = work;
  const worker = createWorker(work, signal, pace);
  // Customers' questions come at any time, and the first one after an hour is not to wait for a model to be loaded.
  embedder.keepLoaded();
  let waitMs = pace.firstWaitMs;
  let isAway = false;
  while (!signal.aborted) {
    try {
      await worker.work(() => {
        if (isAway) log.info({ model: embedder.model }, "embedding resumed");
        isAway = false;
        waitMs = pace.firstWaitMs;
      });
    } catch (error) {
      if (signal.aborted) return;
      const reason = errorMessage(error);
      if (!isAway && !isUnavailable(error)) {
        log.warn({ model: embedder.model }, `embedding failed, will retry: ${reason}`);
        isAway = true;
      }
      log.debug({ error }, "passages not embedded");
      await rest(waitMs, signal);
      waitMs = Math.min(pace.maxWaitMs, waitMs * 2);
    }
  }
}

/** Waits for a time, or until the abort. */
async function rest(timeMs: number, signal: AbortSignal): Promise<void> {
  // The only way in which this rejects is the abort.
  await delay(timeMs, undefined, { signal }).catch(() => undefined);
}

// oxlint-disable-next-line max-lines-per-function -- One worker whose functions share its state.
function createWorker({ store, log, embedder }: EmbeddingWork, signal: AbortSignal, pace: EmbeddingPace) {
  const table = store.chunkEmbeddings;
  let model: EmbeddingModel | null = null;
  let batchSize: number = BATCH.first;
  /** A passage that failed alone; failing twice while others work, it is given up. */
  let suspect: string | null = null;
  let lastFullCheck = Number.NEGATIVE_INFINITY;
  let lastReport = performance.now();
  let isOutvoted = false;

  /** Asks the endpoint what its embeddings are like, and makes them those of the installation. */
  async function chooseModel(): Promise<EmbeddingModel> {
    const [embedding] = await embedder.embedTexts([PROBE], signal);
    if (embedding == null) throw new Error("the endpoint returned no embedding for a single word");
    const chosen = { model: embedder.model, dimensions: embedding.length };
    await table.announceModel(chosen);
    await table.prepareVectors(chosen.dimensions).catch((error: unknown) => {
      // Searches work without it. On a table with many embeddings it may take longer than a statement of this process may.
      log.warn({ error }, "failed to build the index of embeddings; see docs/models.md, pgvector");
    });
    return chosen;
  }

  async function report(): Promise<void> {
    if (performance.now() - lastReport < REPORT_MS) return;
    lastReport = performance.now();
    const { passages, embedded } = await table.count(embedder.model);
    log.info({ model: embedder.model, embedded, passages }, "embedding passages");
  }

  async function embed(chunks: readonly ClaimedChunk[]): Promise<ChunkEmbedding[]> {
    try {
      const embeddings = await embedder.embedTexts(chunks.map(textOf), signal);
      return chunks.map(({ chunkId }, position) => ({ chunkId, embedding: embeddings[position] ?? null }));
    } catch (error) {
      const [only] = chunks;
      batchSize = 1;
      if (signal.aborted || only === undefined || chunks.length > 1) throw error;
      const isSecondTime = suspect === only.chunkId;
      suspect = only.chunkId;
      if (!isSecondTime) throw error;
      // It is the passage when others are embedded; else this rejects as well.
      await embedder.embedTexts([PROBE], signal);
      log.warn({ chunkId: only.chunkId, error }, "passage cannot be embedded; it can only be found by keywords");
      return [{ chunkId: only.chunkId, embedding: null }];
    }
  }

  /** Embeds what can be taken, from this passage on, until there is no more; answers how many that were. */
  async function embedFrom(chosen: EmbeddingModel, firstId: string, onProgress: () => void): Promise<number> {
    let from = firstId;
    let count = 0;
    while (!signal.aborted) {
      const chunks = await table.claim(chosen, from, batchSize);
      const last = chunks.at(-1);
      if (last === undefined) return count;
      const startedAt = performance.now();
      let isSaved = false;
      try {
        count += await table.save(chosen.model, await embed(chunks));
        isSaved = true;
      } finally {
        if (!isSaved) await giveBack(chunks);
      }
      const tookMs = performance.now() - startedAt;
      if (tookMs < BATCH.shortMs) batchSize = Math.min(BATCH.most, batchSize * 2);
      if (tookMs > BATCH.longMs) batchSize = Math.max(1, Math.floor(batchSize / 2));
      suspect = null;
      from = last.chunkId;
      onProgress();
      await report();
    }
    return count;
  }

  async function giveBack(chunks: readonly ClaimedChunk[]): Promise<void> {
    const ids = chunks.map(({ chunkId }) => chunkId);
    await table.release(embedder.model, ids).catch((error: unknown) => {
      // They are free again when the time for which they were taken is over.
      log.debug({ error }, "failed to release passages");
    });
  }

  /** Says when this replica leaves off because another one has a newer model, and when it goes on. */
  async function isOutvotedNow(chosen: EmbeddingModel): Promise<boolean> {
    const is = !(await table.isModelOfInstallation(chosen));
    if (is && !isOutvoted) {
      log.warn(
        { model: embedder.model },
        "another process embeds passages with a different model, so this process does not; set the same SVC_EMBEDDINGS_MODEL or SVC_EMBEDDINGS_DIR for all of them",
      );
    }
    isOutvoted = is;
    return is;
  }

  return {
    /** Works until the abort; rejects at the first fault. `onProgress` hears that the endpoint works. */
    async work(onProgress: () => void): Promise<void> {
      if (model === null) {
        model = await chooseModel();
        onProgress();
      }
      while (!signal.aborted) {
        if (isOutvoted && (await isOutvotedNow(model))) {
          await rest(pace.maxWaitMs, signal);
          continue;
        }
        const isFullCheck = performance.now() - lastFullCheck > FULL_CHECK_MS;
        const startedAt = performance.now();
        const firstId = await table.findFirstMissing(model, isFullCheck ? 0 : Date.now() - OVERLAP_MS);
        if (firstId !== null && !(await isOutvotedNow(model))) {
          const count = await embedFrom(model, firstId, onProgress);
          if (count > 0) log.info({ model: embedder.model, count }, "passages embedded");
        }
        if (isFullCheck && !isOutvoted) lastFullCheck = startedAt;
        await rest(pace.pollMs, signal);
      }
    },
  };
}

/** A passage as it is embedded: with its title and headings, which often name what it is about. */
function textOf({ title, headingPath, text }: ClaimedChunk): string {
  const headings = headingPath[0] === title ? headingPath.slice(1) : headingPath;
  return `${[title, ...headings].join(" › ")}\n${text}`;
}
