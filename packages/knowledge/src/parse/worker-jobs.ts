import type { ErrorCode, FieldError } from "@svc/contracts";
import { createYielder, packWords, unpackWords } from "@svc/store";
import type { DocumentPostings, NewChunk, NewDocument } from "@svc/store";
import type { CutDocument } from "../add-document.ts";
import type { CountedWords } from "../index-words.ts";
import type { FileText, FileToIngest, FileToRead } from "../ingest-file.ts";

/**
 * A document with its passages for transfer between threads: few large objects, because receiving 25,000 passages as
 * objects would block the event loop.
 */
interface PackedDocument {
  document: Omit<NewDocument, "contentHash"> & { contentHash: Uint8Array };
  text: string;
  /** Five numbers per passage: start and end in `text`, length in words, page or 0, index of its heading path. */
  places: Uint32Array;
  /** Distinct heading paths as JSON, in pieces: see `packWords`. */
  headingPaths: string[];
  counted: CountedWords;
}

const POSITION_UNITS = 5;

/** Number of passages unpacked between two checks of the time. */
const SLICE_CHUNKS = 500;

/** Packs a document that was split from `text`. */
export function packDocument({ document, chunks, counted }: CutDocument, text: string): PackedDocument {
  const paths = new Map<string, number>();
  const positions = new Uint32Array(chunks.length * POSITION_UNITS);
  for (const [index, { headingPath, startOffset, endOffset, termCount, page }] of chunks.entries()) {
    const path = JSON.stringify(headingPath);
    const position = paths.get(path) ?? paths.size;
    paths.set(path, position);
    positions.set([startOffset, endOffset, termCount, page ?? 0, position], index * POSITION_UNITS);
  }
  return { document, text, places: positions, headingPaths: packWords(paths.keys()), counted };
}

/** Restores a packed document. */
export async function unpackDocument(packed: PackedDocument): Promise<CutDocument> {
  const yieldNow = createYielder();
  const { text, places: positions, counted } = packed;
  const headingPaths: string[][] = [];
  for (const piece of packed.headingPaths) {
    for (const path of unpackWords(piece)) headingPaths.push(JSON.parse(path) as string[]);
    await yieldNow();
  }
  const chunks: NewChunk[] = [];
  for (let at = 0; at < positions.length; at += POSITION_UNITS) {
    const [startOffset = 0, endOffset = 0, termCount = 0, page = 0, path = 0] = positions.subarray(
      at,
      at + POSITION_UNITS,
    );
    chunks.push({
      headingPath: headingPaths[path] ?? [],
      text: text.slice(startOffset, endOffset),
      startOffset,
      endOffset,
      termCount,
      page: page === 0 ? null : page,
    });
    if (chunks.length % SLICE_CHUNKS === 0) await yieldNow();
  }
  // The store's driver accepts binary data only as a Buffer.
  const document = { ...packed.document, contentHash: Buffer.from(packed.document.contentHash) };
  return { document, chunks, counted };
}

/** Jobs of the worker, with their input and output. */
export interface WorkerJobs {
  /** Reads a file as text. */
  read: { input: FileToRead; output: FileText };
  /** Reads a file as a document, split into passages. */
  cut: { input: FileToIngest; output: PackedDocument & { sourceMime: string } };
  /** Creates the postings of a split document from its words and their stems. */
  post: { input: { name: string; counted: CountedWords; stems: readonly string[] }; output: DocumentPostings };
}

/** One job for the worker. */
export type WorkerJob = {
  [Kind in keyof WorkerJobs]: { kind: Kind; input: WorkerJobs[Kind]["input"] };
}[keyof WorkerJobs];

/** Result of a job, and the current heap size of the worker. */
export type WorkerAnswer = { heapBytes: number } & WorkerOutcome;

/** Output of a job, the error of its file, or an unexpected error. */
export type WorkerOutcome =
  | { output: WorkerJobs[keyof WorkerJobs]["output"] }
  | { refused: { code: ErrorCode; detail: string; errors: FieldError[] | null } }
  | { failed: string };
