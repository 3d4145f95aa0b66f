import { setTimeout as delay } from "node:timers/promises";
import type { Embedder } from "@svc/knowledge";
import type { Log } from "@svc/log";
import { errorMessage } from "@svc/primitives";
import { isUnavailable } from "@svc/store";
import type { ChunkEmbedding, ClaimedChunk, EmbeddingModel, Store } from "@svc/store";

/** Dependencies of the worker. */
export interface EmbeddingWork {
  store: Store;
  log: Log;
  embedder: Embedder;
}

/** Intervals and batch sizes; tests set their own. */
export interface EmbeddingPace {
  /** Polling interval of an idle worker. A poll is one cheap statement. */
  pollMs: number;
  /** First wait after an error; doubled after each further one, up to `maxWaitMs`. */
  firstWaitMs: number;
  maxWaitMs: number;
}

const PACE: EmbeddingPace = { pollMs: 2_000, firstWaitMs: 2_000, maxWaitMs: 30_000 };

/** Passages per request: few enough that queries do not wait long behind it, more on a fast server. */
const BATCH = { first: 8, most: 32, shortMs: 1_000, longMs: 3_000 } as const;

/** Passages created within this time may have been committed only now. */
const OVERLAP_MS = 600_000;

/** Interval of a check of all passages, in case one was missed. */
const FULL_CHECK_MS = 600_000;

const REPORT_MS = 30_000;

/** A text that every endpoint accepts. */
const PROBE = "passage";

/**
 * Embeds all passages that have no embedding of the configured model, and polls for new ones until `signal` is
 * aborted: a new document is embedded within seconds.
 *
 * Runs in every replica; each claims passages for two minutes (`store.chunkEmbeddings.claim`). If a replica crashes,
 * its passages are free after that time; if it is slower, the work is done twice, which is harmless. While the
 * endpoint or the store is unavailable it waits, up to 30 s at a time, and logs that once.
 *
 * The model of the replica that started last is used: a new model has all passages embedded again, and replicas with
 * an earlier one pause. Ends soon after the abort, releases its passages, and never rejects.
 */
export async function embedKnowledge(
  work: EmbeddingWork,
  signal: AbortSignal,
  pace: EmbeddingPace = PACE,
): Promise<void> {
  const { log, embedder } = work;
  const worker = createWorker(work, signal, pace);
  // The first question after an idle hour must not wait until the server has loaded the model.
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

/** Waits for this time, or until the signal is aborted. */
async function rest(timeMs: number, signal: AbortSignal): Promise<void> {
  // It only rejects when the signal is aborted.
  await delay(timeMs, undefined, { signal }).catch(() => undefined);
}

// oxlint-disable-next-line max-lines-per-function -- One worker whose functions share its state.
function createWorker({ store, log, embedder }: EmbeddingWork, signal: AbortSignal, pace: EmbeddingPace) {
  const table = store.chunkEmbeddings;
  let model: EmbeddingModel | null = null;
  let batchSize: number = BATCH.first;
  /** A passage that failed alone. If it fails twice while others succeed, it is given up. */
  let suspect: string | null = null;
  let lastFullCheck = Number.NEGATIVE_INFINITY;
  let lastReport = performance.now();
  let isPaused = false;

  /** Detects the properties of the endpoint's embeddings, and stores them as those of the installation. */
  async function chooseModel(): Promise<EmbeddingModel> {
    const [embedding] = await embedder.embedTexts([PROBE], signal);
    if (embedding == null) throw new Error("the endpoint returned no embedding for a single word");
    const chosen = { model: embedder.model, dimensions: embedding.length };
    await table.announceModel(chosen);
    await table.prepareVectors(chosen.dimensions).catch((error: unknown) => {
      // Search works without the index. Building it on a large table may exceed the statement timeout of this
      // process.
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
      // If the endpoint embeds another text, the passage is the cause; otherwise this rejects as well.
      await embedder.embedTexts([PROBE], signal);
      log.warn({ chunkId: only.chunkId, error }, "passage cannot be embedded; it can only be found by keywords");
      return [{ chunkId: only.chunkId, embedding: null }];
    }
  }

  /** Embeds all passages that can be claimed, starting with this one; returns their number. */
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
        if (!isSaved) await release(chunks);
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

  async function release(chunks: readonly ClaimedChunk[]): Promise<void> {
    const ids = chunks.map(({ chunkId }) => chunkId);
    await table.release(embedder.model, ids).catch((error: unknown) => {
      // Their lease expires soon.
      log.debug({ error }, "failed to release passages");
    });
  }

  /** Returns true while this replica pauses because another one has a newer model; logs the beginning of a pause. */
  async function checkPause(chosen: EmbeddingModel): Promise<boolean> {
    const is = !(await table.isModelOfInstallation(chosen));
    if (is && !isPaused) {
      log.warn(
        { model: embedder.model },
        "another process embeds passages with a different model, so this process does not; set the same SVC_EMBEDDINGS_MODEL or SVC_EMBEDDINGS_DIR for all of them",
      );
    }
    isPaused = is;
    return is;
  }

  return {
    /** Works until the abort; rejects at the first error. Calls `onProgress` when the endpoint has responded. */
    async work(onProgress: () => void): Promise<void> {
      if (model === null) {
        model = await chooseModel();
        onProgress();
      }
      while (!signal.aborted) {
        if (isPaused && (await checkPause(model))) {
          await rest(pace.maxWaitMs, signal);
          continue;
        }
        const isFullCheck = performance.now() - lastFullCheck > FULL_CHECK_MS;
        const startedAt = performance.now();
        const firstId = await table.findFirstMissing(model, isFullCheck ? 0 : Date.now() - OVERLAP_MS);
        if (firstId !== null && !(await checkPause(model))) {
          const count = await embedFrom(model, firstId, onProgress);
          if (count > 0) log.info({ model: embedder.model, count }, "passages embedded");
        }
        if (isFullCheck && !isPaused) lastFullCheck = startedAt;
        await rest(pace.pollMs, signal);
      }
    },
  };
}

/** Returns the text of a passage to embed, with its title and headings, which often name its subject. */
function textOf({ title, headingPath, text }: ClaimedChunk): string {
  const headings = headingPath[0] === title ? headingPath.slice(1) : headingPath;
  return `${[title, ...headings].join(" › ")}\n${text}`;
}
