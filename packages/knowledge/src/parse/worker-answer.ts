import type { ErrorCode, FieldFault } from "@svc/contracts";
import type { FileText } from "./file-text.ts";

/** What the worker says of a file, and how large its heap is now: its text, why it is refused, or that reading it failed in a way not foreseen. */
export type WorkerAnswer = { heapBytes: number } & WorkerOutcome;

/** The text of a file, or why there is none. */
export type WorkerOutcome =
  | { text: FileText }
  | { refused: { code: ErrorCode; detail: string; errors: FieldFault[] | null } }
  | { failed: string };
