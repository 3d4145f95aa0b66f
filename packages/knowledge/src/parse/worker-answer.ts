import type { ErrorCode, FieldFault } from "@svc/contracts";
import type { DocumentPostings } from "@svc/store";
import type { CountedWords } from "../index-words.ts";
import type { FileToIngest } from "../ingest-file.ts";
import type { FileText, FileToRead } from "./file-text.ts";
import type { PackedDocument } from "./packed-document.ts";

/** What the worker can be asked to do: what it is given, and what it makes of it. */
export interface WorkerJobs {
  /** Reads a file as text. */
  read: { input: FileToRead; output: FileText };
  /** Reads a file as a document, cut into passages. */
  cut: { input: FileToIngest; output: PackedDocument & { sourceMime: string } };
  /** Makes the postings of a document that was cut, from its words and their stems. */
  post: { input: { name: string; counted: CountedWords; stems: readonly string[] }; output: DocumentPostings };
}

/** One job for the worker. */
export type WorkerJob = {
  [Kind in keyof WorkerJobs]: { kind: Kind; input: WorkerJobs[Kind]["input"] };
}[keyof WorkerJobs];

/** Result of a job, and the current heap size of the worker. */
export type WorkerAnswer = { heapBytes: number } & WorkerOutcome;

/** What a job made, why its file is refused, or that it failed in a way not foreseen. */
export type WorkerOutcome =
  | { output: WorkerJobs[keyof WorkerJobs]["output"] }
  | { refused: { code: ErrorCode; detail: string; errors: FieldFault[] | null } }
  | { failed: string };
