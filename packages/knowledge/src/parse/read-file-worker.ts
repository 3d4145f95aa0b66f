import { parentPort, workerData } from "node:worker_threads";
import { ServiceError } from "@svc/contracts";
import { boundAllocations } from "./bound-allocations.ts";
import { tooComplex } from "./file-fault.ts";
import type { FileToRead } from "./file-text.ts";
import { readFileBytes } from "./read-file-bytes.ts";
import type { ReadLimits } from "./read-limits.ts";
import type { WorkerAnswer, WorkerOutcome } from "./worker-answer.ts";

/** The thread that reads files, one after the other; a file that harms it ends it and nothing else. */
const port = parentPort;
const { limits } = workerData as { limits: ReadLimits };
const allocations = boundAllocations(limits.bufferBytes);

async function outcomeOf(file: FileToRead): Promise<WorkerOutcome> {
  try {
    const text = await readFileBytes(file, limits);
    if (allocations.takeExceeded()) throw tooComplex(file.name);
    return { text };
  } catch (error) {
    const fault = allocations.takeExceeded() ? tooComplex(file.name) : error;
    if (fault instanceof ServiceError) {
      return { refused: { code: fault.code, detail: fault.message, errors: fault.errors ?? null } };
    }
    return { failed: fault instanceof Error ? `${fault.name}: ${fault.message}` : String(fault) };
  }
}

port?.on("message", (file: FileToRead) => {
  outcomeOf(file)
    .then((outcome) => {
      const answer: WorkerAnswer = { ...outcome, heapBytes: process.memoryUsage().heapTotal };
      port.postMessage(answer);
    })
    .catch((error: unknown) => {
      throw error;
    });
});
