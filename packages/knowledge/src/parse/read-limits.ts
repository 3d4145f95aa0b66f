import type { ErrorCode, FieldError } from "@svc/contracts";
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
  | { refused: { code: ErrorCode; detail: string; errors: FieldError[] | null } }
  | { failed: string };

/** Bounds of reading one file. Whatever goes beyond them is refused by name; nothing is cut off silently. */
export interface ReadLimits {
  /** Most bytes of a file as it is handed in. */
  fileBytes: number;
  /** Most bytes in UTF-8 of the text that comes out, which is also the most that a document may have. */
  textBytes: number;
  /** Most pages of a PDF. */
  pages: number;
  /** Most files within a DOCX or XLSX. */
  zipEntries: number;
  /** Most bytes that a DOCX or XLSX may unpack to, counted as its directory states them and again while unpacking. */
  zipBytes: number;
  /** Most bytes of one part of a DOCX that has to be held as a whole while it is converted. */
  zipPartBytes: number;
  /** Most times that a file within a DOCX or XLSX may grow by unpacking, once it has more than 10 MB. */
  zipRatio: number;
  /** Most cells with a value of an XLSX, and most values of a CSV. */
  cells: number;
  /** Most tags of an HTML page. */
  htmlTags: number;
  /** Elements nested deeper than this keep their text and lose their tags. */
  htmlDepth: number;
  /** Longest time for one file, in milliseconds. */
  timeoutMs: number;
  /**
   * Most time of the processor for one file, in milliseconds: a part that every file has, and one for each MB of it. At
   * most `timeoutMs` together.
   */
  timeoutBaseMs: number;
  timeoutPerMbMs: number;
  /** Most bytes of a file that is read in the thread for small files. */
  smallFileBytes: number;
  /** Heap of the worker thread, in MB; a file that needs more is refused and the worker replaced. */
  heapMb: number;
  /** Most bytes that the worker may take in one piece outside of its heap, as a stream of a PDF unpacks to. */
  bufferBytes: number;
  /** Heap size in MB above which a worker is ended after a file, so that an idle process releases memory. */
  keptHeapMb: number;
  /** Most MB by which the process may grow while one file is read, heap of the worker included. */
  processGrowthMb: number;
}

/** The limits of a file reader that was given no others. */
export const READ_LIMITS: Readonly<ReadLimits> = {
  fileBytes: 50 * 1024 * 1024,
  textBytes: 10 * 1024 * 1024,
  pages: 2_000,
  zipEntries: 10_000,
  zipBytes: 200 * 1024 * 1024,
  zipPartBytes: 50 * 1024 * 1024,
  zipRatio: 500,
  cells: 500_000,
  htmlTags: 400_000,
  htmlDepth: 100,
  timeoutMs: 45_000,
  timeoutBaseMs: 10_000,
  timeoutPerMbMs: 1_000,
  smallFileBytes: 128 * 1024,
  heapMb: 512,
  bufferBytes: 32 * 1024 * 1024,
  keptHeapMb: 128,
  processGrowthMb: 1_024,
};
