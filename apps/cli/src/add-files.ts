import { ServiceError } from "@svc/contracts";
import { addKnowledge } from "@svc/operations";
import type { AddedKnowledge } from "@svc/operations";
import type { Principal } from "@svc/auth";
import type { Resources } from "@svc/runtime";
import { CliError } from "./cli-error.ts";
import { readDocument } from "./read-document.ts";

/** What became of a file. */
export type AddedFile =
  | { file: string; status: AddedKnowledge["status"]; chunks: number; documentId: string }
  | { file: string; status: "failed"; error: string };

/** Faults of the document itself; with any other fault the files that follow would fail as well. */
const FAULTS_OF_DOCUMENT: ReadonlySet<string> = new Set([
  "invalid_request",
  "payload_too_large",
  "unsupported_media_type",
]);

function faultOfFile(error: unknown): string {
  if (error instanceof CliError) return error.message;
  if (error instanceof ServiceError && FAULTS_OF_DOCUMENT.has(error.code)) return error.message;
  throw error;
}

/** Adds files to a knowledge base, one after the other; a bad one does not keep the others out. */
export async function addFiles(
  resources: Resources,
  principal: Principal,
  options: { kb: string; folder: string; files: readonly string[] },
): Promise<{ files: AddedFile[]; isUsed: boolean }> {
  const added: AddedFile[] = [];
  let isUsed = true;
  for (const file of options.files) {
    try {
      const document = await readDocument(options.folder, file);
      const { status, chunks, documentId, ...rest } = await addKnowledge(resources, principal, options.kb, document);
      added.push({ file, status, chunks, documentId });
      isUsed = rest.isUsed;
    } catch (error) {
      added.push({ file, status: "failed", error: faultOfFile(error) });
    }
  }
  return { files: added, isUsed };
}
