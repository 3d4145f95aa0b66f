import type { ErrorCode, FieldFault } from "@svc/contracts";
import type { FileText } from "./file-text.ts";

/** What the worker says of a file: its text, why it is refused, or that reading it failed in a way not foreseen. */
export type WorkerAnswer =
  | { text: FileText }
  | { refused: { code: ErrorCode; detail: string; errors: FieldFault[] | null } }
  | { failed: string };
