import { Worker } from "node:worker_threads";
import type { Log } from "@svc/log";
import type { EmbedOutcome, EmbedWorkerMessage } from "./embed-worker.ts";
import { EmbeddingError, normalize } from "./request-embeddings.ts";
import type { ModelFolder } from "./read-model-folder.ts";
import type { EmbeddingRequest } from "./request-embeddings.ts";

/** A model that runs in a worker thread of this process. */
export interface LocalModel {
  readonly request: EmbeddingRequest;
  /** Keeps the model in memory while it is idle, from its next load on. */
  keepLoaded(): void;
  /** Terminates the worker thread; waiting requests reject. */
  close(): Promise<void>;
}

/** Options; `runLocalModel` documents the defaults. */
export interface LocalModelOptions {
  log: Log;
  /** Idle time after which the memory is released. */
  idleMs?: number;
  /** Time for one text after which the worker thread is replaced. */
  runMs?: number;
  /** First delay before a lost worker thread is replaced; it doubles up to a minute. */
  firstRestMs?: number;
  startWorker?: (folder: ModelFolder) => Worker;
}

const IDLE_MS = 600_000;
const RUN_MS = 60_000;

/** Enough to load weights of 2 GB from a slow disk. */
const LOAD_MS = 300_000;

const FIRST_REST_MS = 1_000;
const MAX_REST_MS = 60_000;

interface Job {
  text: string;
  isQuery: boolean;
  resolve(embedding: Float32Array | null): void;
  reject(error: unknown): void;
}

function endJob(job: Job, message: EmbedOutcome): void {
  if (message.kind === "refused") {
    job.reject(new EmbeddingError(`it cannot embed a text (${message.reason})`, { isRefusal: true }));
  } else if (message.embedding.every(Number.isFinite)) job.resolve(normalize(message.embedding));
  else job.reject(new EmbeddingError("it returns embeddings with values that are not numbers; use different weights"));
}

/** Creates a job for each text, and the promise of their embeddings. */
function createJobs(texts: readonly string[], isQuery: boolean) {
  const jobs: Job[] = [];
  const wait = (text: string) =>
    new Promise<Float32Array | null>((resolve, reject) => void jobs.push({ text, isQuery, resolve, reject }));
  return { embeddings: Promise.all(texts.map(wait)), jobs };
}

/**
 * Rejects jobs after this time or when the signal aborts; the text in progress cannot be cancelled without terminating
 * the thread. Returns a function that ends this.
 */
function limitJobs(jobs: readonly Job[], timeoutMs: number, signal: AbortSignal): () => void {
  const rejectAll = (error: unknown) => {
    for (const job of jobs) job.reject(error);
  };
  const onAbort = () => rejectAll(signal.reason);
  const late = `it did not embed ${jobs.length === 1 ? "a text" : `${jobs.length} texts`} within ${timeoutMs} ms`;
  const timer = setTimeout(() => rejectAll(new EmbeddingError(late)), timeoutMs);
  signal.addEventListener("abort", onAbort);
  return () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  };
}

/**
 * Creates the function that embeds texts with a model in a folder. The worker thread starts with the first request and
 * receives texts one by one, queries before passages: several at once would take as long, and a query would wait for
 * all of them. If the thread crashes, cannot load the model or takes over a minute for a text, all waiting requests
 * reject with an `EmbeddingError`, and the next request starts another thread, after a delay of one second that doubles
 * with each further failure up to a minute.
 */
// oxlint-disable-next-line max-lines-per-function -- One state machine: its functions read and change the same variables.
export function runLocalModel(folder: ModelFolder, options: LocalModelOptions): LocalModel {
  const {
    log,
    idleMs = IDLE_MS,
    runMs = RUN_MS,
    firstRestMs = FIRST_REST_MS,
    startWorker = startEmbedWorker,
  } = options;
  const { model } = folder;
  let worker: Worker | null = null;
  let isLoaded = false;
  let current: Job | null = null;
  let waiting: Job[] = [];
  let failures = 0;
  let rest = { untilMs: 0, reason: "" };
  let isKept = false;
  let isClosed = false;
  let watchdog: NodeJS.Timeout | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  let ending: Promise<unknown> = Promise.resolve();

  function watch(timeMs: number, reason: string): void {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => lose(reason), timeMs).unref();
  }

  /** Terminates the worker thread. The process does not exit before that. */
  function endWorker(): void {
    clearTimeout(watchdog);
    clearTimeout(idleTimer);
    const ended = worker;
    worker = null;
    isLoaded = false;
    if (ended !== null) ending = Promise.all([ending, ended.terminate()]);
  }

  function rejectAll(error: Error): void {
    const rejected = current === null ? waiting : [current, ...waiting];
    current = null;
    waiting = [];
    for (const job of rejected) job.reject(error);
  }

  function lose(reason: string): void {
    const restMs = Math.min(MAX_REST_MS, firstRestMs * 2 ** failures);
    failures += 1;
    rest = { untilMs: performance.now() + restMs, reason };
    log.warn({ model, restMs }, `embedding model unloaded: ${reason}; it will be loaded again when needed`);
    endWorker();
    rejectAll(new EmbeddingError(reason, { retryAfterMs: restMs }));
  }

  function start(): void {
    const startedAt = performance.now();
    const started = startWorker(folder);
    worker = started;
    // An idle worker must not keep a command running.
    started.unref();
    watch(LOAD_MS, `it was not loaded within ${LOAD_MS / 1_000} s`);
    started.on("message", (message: EmbedWorkerMessage) => {
      if (worker !== started) return;
      if (message.kind === "failed") return lose(`it cannot be loaded (${message.reason})`);
      clearTimeout(watchdog);
      if (message.kind === "loaded") {
        isLoaded = true;
        log.info({ model, tookMs: Math.round(performance.now() - startedAt) }, "embedding model loaded");
      } else {
        if (current !== null) endJob(current, message);
        current = null;
        failures = 0;
      }
      pump();
    });
    started.on("error", (error) => {
      if (worker === started) lose(`its worker thread crashed (${error.message})`);
    });
    started.on("exit", (code) => {
      if (worker === started) lose(`its worker thread ended with code ${code}`);
    });
  }

  /** Sends the worker thread its next text, or schedules its termination if there is none. */
  function pump(): void {
    clearTimeout(idleTimer);
    if (current !== null) return;
    const next = waiting.find(({ isQuery }) => isQuery) ?? waiting[0];
    if (next === undefined) {
      if (!isKept) idleTimer = setTimeout(endWorker, idleMs).unref();
      return;
    }
    if (worker === null) start();
    if (!isLoaded) return;
    waiting = waiting.filter((job) => job !== next);
    current = next;
    watch(runMs, `it took longer than ${runMs / 1_000} s for a text`);
    worker?.postMessage(next.text, []);
  }

  return {
    async request(texts, { timeoutMs, signal, isQuery = false }) {
      signal.throwIfAborted();
      const restMs = rest.untilMs - performance.now();
      if (worker === null && restMs > 0) throw new EmbeddingError(rest.reason, { retryAfterMs: restMs });
      if (isClosed) throw new EmbeddingError("the service is shutting down");
      const { jobs, embeddings } = createJobs(texts, isQuery);
      const release = limitJobs(jobs, timeoutMs, signal);
      waiting.push(...jobs);
      pump();
      try {
        return await embeddings;
      } finally {
        release();
        waiting = waiting.filter((job) => !jobs.includes(job));
      }
    },
    keepLoaded() {
      isKept = true;
      clearTimeout(idleTimer);
    },
    async close() {
      isClosed = true;
      endWorker();
      rejectAll(new EmbeddingError("the service is shutting down"));
      await ending;
    },
  };
}

function startEmbedWorker(folder: ModelFolder): Worker {
  const worker = new Worker(new URL("../../dist/embeddings/embed-worker.js", import.meta.url), {
    workerData: folder,
    // Discards the runtime's output about a model; the messages contain what matters.
    stdout: true,
    stderr: true,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  return worker;
}
