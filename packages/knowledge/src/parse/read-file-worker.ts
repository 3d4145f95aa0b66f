import { parentPort, workerData } from "node:worker_threads";
import type { Transferable } from "node:worker_threads";
import { ServiceError } from "@svc/contracts";
import { cutDocument } from "../add-document.ts";
import { postWords } from "../index-words.ts";
import { documentOf, tooComplex } from "../ingest-file.ts";
import { readFileBytes } from "./read-file-bytes.ts";
import type { ReadLimits } from "./read-limits.ts";
import { packDocument } from "./worker-jobs.ts";
import type { WorkerAnswer, WorkerJob, WorkerJobs, WorkerOutcome } from "./worker-jobs.ts";

/** Worker thread that reads files one after the other; a file that crashes it affects nothing else. */
const port = parentPort;
const { limits } = workerData as { limits: ReadLimits };
const allocations = boundAllocations(limits.bufferBytes);

async function run({ kind, input }: WorkerJob): Promise<WorkerJobs[keyof WorkerJobs]["output"]> {
  if (kind === "read") return readFileBytes(input, limits);
  if (kind === "post") return postWords(input.counted, input.stems);
  const { sourceMime, ...read } = await readFileBytes(input, limits);
  const document = documentOf(input, read);
  return { ...packDocument(await cutDocument(document), document.text), sourceMime };
}

async function outcomeOf(job: WorkerJob): Promise<WorkerOutcome> {
  try {
    const output = await run(job);
    if (allocations.takeExceeded()) throw tooComplex(job.input.name);
    return { output };
  } catch (error) {
    const problem = allocations.takeExceeded() ? tooComplex(job.input.name) : error;
    if (problem instanceof ServiceError) {
      return { refused: { code: problem.code, detail: problem.message, errors: problem.errors ?? null } };
    }
    return { failed: problem instanceof Error ? `${problem.name}: ${problem.message}` : String(problem) };
  }
}

/** Returns the memory of an outcome that is transferred rather than copied. */
function memoryOf(outcome: WorkerOutcome): Transferable[] {
  if (!("output" in outcome)) return [];
  const { output } = outcome;
  if ("counted" in output) {
    const { units, ends, lengths } = output.counted;
    return [output.places, units, ends, lengths].map(({ buffer }) => buffer as ArrayBuffer);
  }
  return "units" in output ? [output.units, output.ends].map(({ buffer }) => buffer as ArrayBuffer) : [];
}

port?.on("message", (job: WorkerJob) => {
  outcomeOf(job)
    .then((outcome) => {
      const answer: WorkerAnswer = { ...outcome, heapBytes: process.memoryUsage().heapTotal };
      port.postMessage(answer, memoryOf(outcome));
    })
    .catch((error: unknown) => {
      throw error;
    });
});

/**
 * Makes `new Uint8Array(length)` throw above `maxBytes` in this thread, and returns a function that tells whether it
 * did. PDF streams are unpacked into such arrays, outside the heap that a worker's limits cover, and pdfjs has no limit
 * of its own: a file of 1 MB may request gigabytes. pdfjs continues without a failed stream, so the caller must check.
 */
function boundAllocations(maxBytes: number): { takeExceeded(): boolean } {
  let isExceeded = false;
  globalThis.Uint8Array = new Proxy(Uint8Array, {
    construct(target, [first, ...rest]: unknown[], newTarget) {
      if (typeof first === "number" && first > maxBytes) {
        isExceeded = true;
        throw new RangeError(`An array of ${first} bytes exceeds the limit of ${maxBytes} bytes for reading a file.`);
      }
      return Reflect.construct(target, [first, ...rest], newTarget) as object;
    },
  });
  return {
    takeExceeded() {
      const was = isExceeded;
      isExceeded = false;
      return was;
    },
  };
}
