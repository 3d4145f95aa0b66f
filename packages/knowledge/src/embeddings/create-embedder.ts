import { promptsOf } from "./read-model-folder.ts";
import type { EmbeddingPrompts, ModelFolder } from "./read-model-folder.ts";
import { createBreaker } from "@svc/outbound";
import type { Breaker } from "@svc/outbound";
import { errorMessage, withinMs } from "@svc/primitives";
import { cutText } from "@svc/text";
import type { Log } from "@svc/log";
import type { ProjectId, Store } from "@svc/store";
import { createEmbeddingRequest, EmbeddingError, embedTexts } from "./request-embeddings.ts";
import type { EmbeddingEndpoint, EmbeddingRequest } from "./request-embeddings.ts";
import { runLocalModel } from "./run-local-model.ts";
import type { LocalModelOptions } from "./run-local-model.ts";
import type { VectorCacheOptions } from "./open-vector-cache.ts";
import { searchByMeaning } from "./reorder-by-embeddings.ts";
import { createSearchEngine } from "./search-engine.ts";
import type { GroupSearch, SearchResult } from "../search-knowledge.ts";

/** Everything for semantic search; shared by all searches of a process. */
export interface Embeddings {
  readonly embedder: Embedder;
  /** Searches like the function `searchEach`, by words and meaning. */
  searchEach(project: ProjectId, search: GroupSearch): Promise<SearchResult[]>;
  /** Aborts pending requests; call it before the store is closed. */
  close(): Promise<void>;
}

/** Creates embeddings of texts with a server, or with a model in this process. All of them have length 1. */
export interface Embedder {
  readonly model: string;
  /** Folder of the model in this process; null if a server creates the embeddings. */
  readonly folder: ModelFolder | null;
  /**
   * Returns embeddings of passages in order; null for one that the endpoint does not accept at any length. Errors are
   * retried for some seconds; rejects with an `EmbeddingError` if that does not help, and with the signal's reason when
   * it is aborted.
   */
  embedTexts(texts: readonly string[], signal: AbortSignal): Promise<(Float32Array | null)[]>;
  /** Like `embedTexts`, each as a query: for texts that queries are compared with. */
  embedQueries(texts: readonly string[]): Promise<(Float32Array | null)[]>;
  /**
   * Returns the embedding of a query, or null if there is none within 0.8 s, so that a search continues without it
   * whatever the error of the endpoint is. Never rejects.
   */
  embedQuery(text: string): Promise<Float32Array | null>;
  /** Keeps a local model in memory while it is idle; does nothing for a server. */
  keepLoaded(): void;
  /** Aborts pending requests and terminates the worker thread of a model. */
  close(): Promise<void>;
}

/** Source of embeddings: a server, or a model in a folder. */
export type EmbeddingSource = EmbeddingEndpoint | ({ folder: ModelFolder } & Omit<LocalModelOptions, "log">);

/** Options of an embedder; `createEmbedder` documents the defaults. */
export type EmbedderOptions = EmbeddingSource & {
  log: Log;
  /** Time a search waits for the embedding of its query. */
  queryDeadlineMs?: number;
  /** Time the endpoint is not called after three consecutive failures. */
  restMs?: number;
  /** Delay before passages are retried. */
  firstRetryMs?: number;
};

const QUERY_DEADLINE_MS = 800;
const MAX_FAILURES = 3;
const REST_MS = 30_000;

/**
 * Timeout of a request for a query after its search has stopped waiting: the server may be loading its model, and the
 * next query benefits.
 */
const QUERY_TIMEOUT_MS = 15_000;

/** Maximum number of concurrent requests for queries: more would make all of them late. */
const MAX_QUERIES_AT_ONCE = 8;

/** Maximum length of a query that is embedded; shorter if the endpoint rejects it. */
const MAX_QUERY_CHARS = 2_000;
const SHORT_QUERY_CHARS = 400;

/** Number of cached embeddings of queries: triage and search use the same query, and customers repeat questions. */
const MAX_REMEMBERED = 500;

/**
 * Creates an embedder for an OpenAI-compatible endpoint or a model in a folder. After three consecutive failures (a
 * response after 0.8 s counts as one), queries skip it for 30 s, then one query tests it; one line is logged when this
 * begins and one when it recovers. Logs never contain the key.
 */
export function createEmbedder(options: EmbedderOptions): Embedder {
  const { log, queryDeadlineMs = QUERY_DEADLINE_MS, restMs = REST_MS, firstRetryMs } = options;
  const source = openSource(options);
  const { model, folder, prompts, request } = source;
  const closing = new AbortController();
  const remembered = createQueryMemory();
  const check = createDimensionCheck();
  let queriesAtOnce = 0;
  const breaker = openBreaker(source, { log, restMs });

  async function askOnce(query: string): Promise<Float32Array | null> {
    const requested = { timeoutMs: QUERY_TIMEOUT_MS, signal: closing.signal, isQuery: true };
    const [embedding = null] = check(await request([prompts.query + query], requested));
    return embedding;
  }

  async function ask(query: string): Promise<Float32Array | null> {
    queriesAtOnce += 1;
    try {
      return await askOnce(query);
    } catch (error) {
      const isTooLong = error instanceof EmbeddingError && error.isRefusal && query.length > SHORT_QUERY_CHARS;
      if (!isTooLong) throw error;
      return await askOnce(cutText(query, SHORT_QUERY_CHARS));
    } finally {
      queriesAtOnce -= 1;
    }
  }

  async function embedAll(texts: readonly string[], prompt: string, signal: AbortSignal) {
    const retry = firstRetryMs === undefined ? {} : { firstRetryMs };
    return check(await embedTexts(request, texts, { prompt, signal, ...retry }));
  }

  return {
    model,
    folder,
    embedTexts: (texts, signal) => embedAll(texts, prompts.document, AbortSignal.any([signal, closing.signal])),
    embedQueries: (texts) => embedAll(texts, prompts.query, closing.signal),
    async embedQuery(text) {
      const query = cutText(text.trim(), MAX_QUERY_CHARS);
      if (query === "" || closing.signal.aborted) return null;
      const known = remembered.find(query);
      if (known !== undefined) return (await withinMs(known, queryDeadlineMs)) ?? null;
      if (queriesAtOnce >= MAX_QUERIES_AT_ONCE || !breaker.allows()) return null;
      const asked = watchQuery(ask(query), {
        deadlineMs: queryDeadlineMs,
        signal: closing.signal,
        breaker,
        onError: (error) => log.debug({ model, error }, "failed to embed a query"),
      });
      remembered.add(query, asked);
      return (await withinMs(asked, queryDeadlineMs)) ?? null;
    },
    keepLoaded: () => source.keepLoaded(),
    async close() {
      closing.abort(new Error("the service is shutting down"));
      await source.close();
    },
  };
}

function openBreaker({ name, model }: OpenSource, { log, restMs }: { log: Log; restMs: number }): Breaker {
  return createBreaker({
    maxFailures: MAX_FAILURES,
    restMs,
    onOpen: (reason) => log.warn({ model }, `embeddings of ${name} unavailable: ${reason}; searches use keywords only`),
    onClose: () => log.info({ model }, `embeddings of ${name} available again`),
  });
}

/**
 * Reports the result of a request within the deadline to the breaker, and resolves with the embedding even if it is
 * late; null if it failed.
 */
function watchQuery(
  asked: Promise<Float32Array | null>,
  watch: { deadlineMs: number; signal: AbortSignal; breaker: Breaker; onError: (error: unknown) => void },
): Promise<Float32Array | null> {
  const { deadlineMs, signal, breaker, onError } = watch;
  let isJudged = false;
  const judge = (reason: string | null) => {
    clearTimeout(timer);
    if (isJudged || signal.aborted) return;
    isJudged = true;
    if (reason === null) breaker.succeed();
    else breaker.fail(reason);
  };
  const timer = setTimeout(() => judge(`no response within ${deadlineMs} ms`), deadlineMs);
  return asked.then(
    (embedding) => {
      judge(null);
      return embedding;
    },
    (error: unknown) => {
      onError(error);
      judge(errorMessage(error));
      return null;
    },
  );
}

/** Caches embeddings of queries, including pending ones. */
function createQueryMemory() {
  const remembered = new Map<string, Promise<Float32Array | null>>();
  return {
    find(query: string): Promise<Float32Array | null> | undefined {
      const known = remembered.get(query);
      if (known === undefined) return undefined;
      // Moves it to the most recent position; the oldest is evicted.
      remembered.delete(query);
      remembered.set(query, known);
      return known;
    },
    add(query: string, asked: Promise<Float32Array | null>): void {
      remembered.set(query, asked);
      const [oldest] = remembered.keys();
      if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
      void asked.then((embedding) => {
        if (embedding === null && remembered.get(query) === asked) remembered.delete(query);
      });
    },
  };
}

/**
 * Returns a function that rejects embeddings whose dimension differs from the first one: they are from another model.
 */
function createDimensionCheck() {
  let dimensions: number | null = null;
  return (embeddings: (Float32Array | null)[]): (Float32Array | null)[] => {
    for (const embedding of embeddings) {
      if (embedding === null) continue;
      dimensions ??= embedding.length;
      if (embedding.length !== dimensions) {
        throw new EmbeddingError(
          `its embeddings have ${embedding.length} dimensions instead of ${dimensions}; restart this process if the model was changed on purpose`,
        );
      }
    }
    return embeddings;
  };
}

interface OpenSource {
  /** Its name in the log. */
  name: "endpoint" | "model";
  model: string;
  folder: ModelFolder | null;
  prompts: EmbeddingPrompts;
  request: EmbeddingRequest;
  keepLoaded(): void;
  close(): Promise<void>;
}

function openSource(options: EmbedderOptions): OpenSource {
  if ("folder" in options) {
    const { folder } = options;
    const { model, prompts } = folder;
    return { name: "model", model, folder, prompts, ...runLocalModel(folder, options) };
  }
  const { model } = options;
  return {
    name: "endpoint",
    model,
    folder: null,
    prompts: promptsOf(model),
    request: createEmbeddingRequest(options),
    keepLoaded: () => undefined,
    close: () => Promise.resolve(),
  };
}

/** Opens semantic search. Makes no request and reads no file before the first search. */
export function openEmbeddings(
  options: EmbedderOptions & Omit<VectorCacheOptions, "model"> & { store: Store },
): Embeddings {
  const embedder = createEmbedder(options);
  const { store, log } = options;
  const engine = createSearchEngine({ ...options, model: embedder.model });
  const deps = { store, log, engine, embedQuery: (query: string) => embedder.embedQuery(query) };
  return {
    embedder,
    searchEach: (project, search) => searchByMeaning(deps, project, search),
    async close() {
      await embedder.close();
      await engine.close();
    },
  };
}
