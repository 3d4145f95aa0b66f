import { parentPort, workerData } from "node:worker_threads";
import type { Transferable } from "node:worker_threads";
import { ServiceError } from "@svc/contracts";
import { cutDocument } from "../add-document.ts";
import { postWords } from "../index-words.ts";
import { documentOf } from "../ingest-file.ts";
import { boundAllocations } from "./bound-allocations.ts";
import { tooComplex } from "./file-fault.ts";
import { packDocument } from "./packed-document.ts";
import { readFileBytes } from "./read-file-bytes.ts";
import type { ReadLimits } from "./read-limits.ts";
import type { WorkerAnswer, WorkerJob, WorkerJobs, WorkerOutcome } from "./worker-answer.ts";

/** The thread that reads files, one after the other; a file that harms it ends it and nothing else. */
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
    const fault = allocations.takeExceeded() ? tooComplex(job.input.name) : error;
    if (fault instanceof ServiceError) {
      return { refused: { code: fault.code, detail: fault.message, errors: fault.errors ?? null } };
    }
    return { failed: fault instanceof Error ? `${fault.name}: ${fault.message}` : String(fault) };
  }
}

/** The memory of an outcome that is handed over rather than copied. */
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
