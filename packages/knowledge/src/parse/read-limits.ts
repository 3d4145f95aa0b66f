/** Limits of reading one file. A file beyond one is rejected by name; nothing is truncated silently. */
export interface ReadLimits {
  /** Maximum size of a file, in bytes. */
  fileBytes: number;
  /** Maximum size of its text in bytes of UTF-8, which is also the limit of a document. */
  textBytes: number;
  /** Maximum number of pages of a PDF. */
  pages: number;
  /** Maximum number of files in a DOCX or XLSX. */
  zipEntries: number;
  /** Maximum unpacked size of a DOCX or XLSX in bytes, checked in its directory and again while unpacking. */
  zipBytes: number;
  /** Maximum size in bytes of a part of a DOCX that is held in memory while it is converted. */
  zipPartBytes: number;
  /** Maximum compression ratio of a file in a DOCX or XLSX above 10 MB. */
  zipRatio: number;
  /** Maximum number of non-empty cells of an XLSX, and of values of a CSV. */
  cells: number;
  /** Maximum number of tags of an HTML page. */
  htmlTags: number;
  /** Maximum nesting of elements; deeper ones are replaced by their text. */
  htmlDepth: number;
  /** Maximum time per file, in milliseconds. */
  timeoutMs: number;
  /** Maximum CPU time per file, in milliseconds: a base, and an amount per MB. At most `timeoutMs` together. */
  timeoutBaseMs: number;
  timeoutPerMbMs: number;
  /** Maximum size in bytes of a file that is read in the thread for small files. */
  smallFileBytes: number;
  /** Heap limit of the worker thread, in MB; a file that needs more is rejected and the worker replaced. */
  heapMb: number;
  /** Maximum size in bytes of a single allocation of the worker outside its heap, such as an unpacked PDF stream. */
  bufferBytes: number;
  /** Heap size in MB above which a worker is terminated after a file, so that an idle process releases memory. */
  keptHeapMb: number;
  /** Maximum growth of the process in MB while one file is read, including the worker's heap. */
  processGrowthMb: number;
}

/** Default limits. */
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
