import { Worker } from "node:worker_threads";
import { ServiceError } from "@svc/contracts";
import { asIndexed } from "../index-words.ts";
import { fileError, fileTooLarge, formatMb, tooComplex } from "../ingest-file.ts";
import type { DocumentOfFile, FileText, FileToIngest, FileToRead } from "../ingest-file.ts";
import { READ_LIMITS } from "./read-limits.ts";
import type { ReadLimits } from "./read-limits.ts";
import { unpackDocument } from "./worker-jobs.ts";
import type { WorkerAnswer, WorkerJob, WorkerJobs } from "./worker-jobs.ts";

/** Converts files to text and documents in worker threads. */
export interface FileReader {
  /**
   * Reads text, Markdown, HTML, PDF, DOCX, XLSX and CSV; the bytes decide the format, the name is a hint. `bytes` is
   * not changed. Files are read one after the other, in the order of the calls; small ones (`smallFileBytes`) do not
   * wait for larger ones. Throws a `ServiceError` that names the file and says what to do: `unsupported_media_type`,
   * `payload_too_large`, or `invalid_request` with the pointer `/file`. When `signal` aborts, reading ends and its
   * reason is thrown; for a waiting file, this happens when its turn comes.
   */
  read(file: FileToRead, signal?: AbortSignal): Promise<FileText>;
  /**
   * Reads a file as a document: like `read`, and also splits the text into passages and counts their words in the same
   * thread and under the same limits, so that large files do not block the calling thread. A text that cannot be split
   * is `invalid_request` with the pointer `/text`.
   */
  readDocument(file: FileToIngest, signal?: AbortSignal): Promise<DocumentOfFile>;
  /** Terminates the worker threads; pending reads fail with `unavailable`. */
  close(): Promise<void>;
}

/** Interval of the checks of the process's memory. */
const WATCH_INTERVAL_MS = 100;

/** A worker thread and its queue. */
interface Lane {
  worker: Worker | null;
  last: Promise<unknown>;
}

/**
 * Creates a reader with two worker threads, which start with their first file and do not keep the process running: one
 * for small files, one for all others.
 *
 * Memory: the worker's heap is limited to `heapMb` (512 MB), and while a file is read the process may grow by at most
 * `processGrowthMb` (1 GB), including the file itself (50 MB) and its text (10 MB). A file that needs more terminates
 * the worker and fails with a clear error; the next file gets a new worker. Decompression bombs are rejected earlier,
 * because unpacked sizes are checked before and during unpacking. A worker above `keptHeapMb` (128 MB) is replaced
 * after its file. All growth of the process counts, so another task that allocates a gigabyte meanwhile would fail the
 * reading.
 */
export function createFileReader(options: { limits?: Partial<ReadLimits> } = {}): FileReader {
  const limits: ReadLimits = { ...READ_LIMITS, ...options.limits };
  const newLane = (): Lane => ({ worker: null, last: Promise.resolve() });
  const lanes = { small: newLane(), large: newLane() };
  const laneOf = (file: FileToRead) => (file.bytes.byteLength <= limits.smallFileBytes ? lanes.small : lanes.large);
  const closing = new AbortController();

  return {
    async read(file, signal) {
      checkSize(file, limits);
      return runJob("read", file, { lane: laneOf(file), time: timeOf(file, limits), signal });
    },
    async readDocument(file, signal) {
      checkSize(file, limits);
      const run = { lane: laneOf(file), time: timeOf(file, limits), signal };
      const { sourceMime, ...packed } = await runJob("cut", file, run);
      const { document, ...counted } = await unpackDocument(packed);
      const indexed = asIndexed(counted, (words, stems) =>
        runJob("post", { name: file.name, counted: words, stems }, run),
      );
      return {
        checked: { key: document.key, contentHash: document.contentHash, cut: async () => ({ document, indexed }) },
        source: { mime: sourceMime, sizeBytes: file.bytes.byteLength },
      };
    },
    async close() {
      closing.abort(new ServiceError("unavailable", "The service is shutting down. Add the file again."));
      for (const lane of Object.values(lanes)) {
        await lane.last;
        await endWorker(lane);
      }
    },
  };

  /** Runs a job in a lane's worker after the earlier ones. */
  function runJob<Kind extends keyof WorkerJobs>(
    kind: Kind,
    input: WorkerJobs[Kind]["input"],
    { lane, time, signal }: { lane: Lane; time: TimeLimit; signal: AbortSignal | undefined },
  ): Promise<WorkerJobs[Kind]["output"]> {
    const signals = signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]);
    const turn = lane.last.then(() => runNext(lane, { kind, input } as WorkerJob, { limits, time, signal: signals }));
    lane.last = turn.catch(() => undefined);
    return turn;
  }
}

function checkSize({ name, bytes: { byteLength } }: FileToRead, limits: ReadLimits): void {
  if (byteLength <= limits.fileBytes) return;
  const size = `is ${formatMb(byteLength)}; the maximum is ${formatMb(limits.fileBytes)}`;
  throw fileTooLarge(name, `${size}; split it into several files`);
}

function timeOf({ bytes: { byteLength } }: FileToRead, limits: ReadLimits): TimeLimit {
  const ms = limits.timeoutBaseMs + (byteLength / 1024 / 1024) * limits.timeoutPerMbMs;
  return { ms: Math.min(ms, limits.timeoutMs), wallMs: limits.timeoutMs };
}

async function runNext(lane: Lane, job: WorkerJob, bounds: Bounds): Promise<WorkerJobs[keyof WorkerJobs]["output"]> {
  const { limits, signal } = bounds;
  signal.throwIfAborted();
  const { name } = job.input;
  lane.worker ??= startWorker(lane, limits);
  const running = lane.worker;
  running.ref();
  try {
    const answer = await askWorker(running, job, bounds);
    if (answer.heapBytes > limits.keptHeapMb * 1024 * 1024) await endWorker(lane);
    if ("output" in answer) return answer.output;
    if ("failed" in answer) throw brokenFile(name, answer.failed);
    const { code, detail, errors } = answer.refused;
    throw new ServiceError(code, detail, errors === null ? {} : { errors });
  } catch (error) {
    if (error instanceof WorkerLost) {
      await endWorker(lane);
      throw error.reason;
    }
    throw error;
  } finally {
    running.unref();
  }
}

function startWorker(lane: Lane, limits: ReadLimits): Worker {
  const started = new Worker(new URL("../../dist/parse/read-file-worker.js", import.meta.url), {
    workerData: { limits },
    // The image's `--max-semi-space-size` has precedence over the limit of the young generation: 96 MB.
    resourceLimits: { maxOldGenerationSizeMb: limits.heapMb, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
    // Discards the warnings of libraries about unusual files; the response contains what matters.
    stdout: true,
    stderr: true,
  });
  started.stdout.resume();
  started.stderr.resume();
  // A waiting caller gets the exit as well; without one the worker is only replaced.
  started.on("error", () => undefined);
  started.on("exit", () => {
    if (lane.worker === started) lane.worker = null;
  });
  return started;
}

async function endWorker(lane: Lane): Promise<void> {
  const ending = lane.worker;
  lane.worker = null;
  await ending?.terminate();
}

/** Remaining time for a file, in milliseconds. Each of its jobs subtracts what it has used. */
interface TimeLimit {
  /** CPU time of the whole process meanwhile, so that a file does not fail because its host is overloaded. */
  ms: number;
  /** Wall-clock time. */
  wallMs: number;
}

interface Bounds {
  limits: ReadLimits;
  time: TimeLimit;
  signal: AbortSignal;
}

/** Matches the message of a library that cannot be loaded or has a bug of its own: not an error of the file. */
const OWN_ERROR = /^(?:SyntaxError|ReferenceError)|Cannot find (?:module|package)/;

/** Creates the error for a file that made a library fail; the cause has the details for the log. */
function brokenFile(name: string, reason: string): Error {
  if (OWN_ERROR.test(reason)) return new Error(`Files cannot be read: ${reason}`);
  const isDeep = /call stack/i.test(reason);
  const detail = isDeep
    ? "is nested too deeply; save it in a simpler form"
    : "is damaged or has an unusual format; open it, save it again and add that file";
  return fileError(name, isDeep ? "too_deep" : "damaged", detail, new Error(reason));
}

/** The worker cannot read another file; `reason` is the error for the caller. */
class WorkerLost extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super("The worker that reads files exited.");
    this.name = "WorkerLost";
    this.reason = reason;
  }
}

/** Sends one job to the worker. Throws `WorkerLost` if it must be replaced. */
function askWorker(worker: Worker, job: WorkerJob, { limits, time, signal }: Bounds): Promise<WorkerAnswer> {
  const { name } = job.input;
  return new Promise<WorkerAnswer>((resolve, reject) => {
    const settle = (finish: () => void) => {
      clearInterval(watch);
      const used = usedSince(start);
      time.ms -= used.ms;
      time.wallMs -= used.wallMs;
      signal.removeEventListener("abort", onAbort);
      worker.off("message", onMessage).off("error", onError).off("exit", onExit);
      finish();
    };
    const lose = (reason: unknown) => settle(() => reject(new WorkerLost(reason)));
    const onMessage = (answer: WorkerAnswer) => settle(() => resolve(answer));
    const onAbort = () => lose(signal.reason);
    const onExit = () => lose(tooComplex(name));
    const onError = (error: Error & { code?: string }) =>
      lose(
        error.code === "ERR_WORKER_OUT_OF_MEMORY"
          ? tooComplex(name)
          : brokenFile(name, `${error.name}: ${error.message}`),
      );
    const start = { wallMs: performance.now(), cpu: process.cpuUsage() };
    const grownFrom = process.memoryUsage.rss();
    const watch = setInterval(() => {
      const used = usedSince(start);
      if (used.ms > time.ms || used.wallMs > time.wallMs) {
        const text = "takes too long to read; split it into smaller files, or save it in a simpler form";
        lose(fileError(name, "too_slow", text));
      }
      if (process.memoryUsage.rss() - grownFrom > limits.processGrowthMb * 1024 * 1024) lose(tooComplex(name));
    }, WATCH_INTERVAL_MS);
    worker.on("message", onMessage).on("error", onError).on("exit", onExit);
    signal.addEventListener("abort", onAbort);
    if (job.kind === "post") {
      worker.postMessage(job, []);
      return;
    }
    // Transfers a copy: the bytes may be part of a larger buffer, and belong to the caller.
    const bytes = new Uint8Array(job.input.bytes);
    worker.postMessage({ ...job, input: { ...job.input, bytes } }, [bytes.buffer]);
  });
}

/** Returns the elapsed time and the CPU time: the latter at most as much, though several threads use it. */
function usedSince(start: { wallMs: number; cpu: NodeJS.CpuUsage }): { ms: number; wallMs: number } {
  const wallMs = performance.now() - start.wallMs;
  const { user, system } = process.cpuUsage(start.cpu);
  return { ms: Math.min(wallMs, (user + system) / 1_000), wallMs };
}
