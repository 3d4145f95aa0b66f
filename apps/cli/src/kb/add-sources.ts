import { ServiceError } from "@svc/contracts";
import { ingestFile } from "@svc/knowledge";
import type { AddedDocument, FileReader, PageFetcher } from "@svc/knowledge";
import type { Log } from "@svc/log";
import type { ProjectId, Store } from "@svc/store";
import { CliError } from "../cli-error.ts";
import type { Source } from "./find-sources.ts";
import { readSource } from "./read-source.ts";

/** What became of a file or page; `file` is what the person called it. */
export type AddedFile =
  | { file: string; status: AddedDocument["status"]; chunks: number; documentId: string; key: string }
  | { file: string; status: "failed"; error: string };

/** What adding needs. */
export interface AddDeps {
  store: Store;
  log: Log;
  reader: FileReader;
  fetcher: PageFetcher;
}

/** Told of each source as it begins and ends. */
export interface AddProgress {
  begin(name: string): void;
  end(added: AddedFile, sizeBytes: number): void;
}

/** Faults of the document itself; with any other fault those that follow would fail as well. */
const FAULTS_OF_DOCUMENT: ReadonlySet<string> = new Set([
  "invalid_request",
  "payload_too_large",
  "unsupported_media_type",
]);

function reasonOf(error: unknown): string {
  if (error instanceof CliError) return error.message;
  if (error instanceof ServiceError && FAULTS_OF_DOCUMENT.has(error.code)) return error.message;
  throw error;
}

/**
 * Adds files and pages to a knowledge base, one after the other; a bad one does not keep the others out. When the
 * signal aborts, the file at hand is ended and the rest left: what was added stays, and added again it is unchanged.
 */
export async function addSources(
  deps: AddDeps,
  target: { project: ProjectId; kbId: string },
  sources: readonly Source[],
  { signal, progress }: { signal: AbortSignal; progress: AddProgress },
): Promise<AddedFile[]> {
  const files: AddedFile[] = [];

  async function addOne(source: Source): Promise<void> {
    let sizeBytes = 0;
    let added: AddedFile;
    try {
      const file = await readSource(source, deps.fetcher, signal);
      sizeBytes = file.bytes.byteLength;
      const { status, chunks, documentId } = await ingestFile(deps, target.project, target.kbId, file);
      added = { file: source.name, status, chunks, documentId, key: source.key };
    } catch (error) {
      // A fetch that was given up is no failure of the page.
      if (signal.aborted && error === signal.reason) return;
      added = { file: source.name, status: "failed", error: reasonOf(error) };
    }
    files.push(added);
    progress.end(added, sizeBytes);
  }

  for (const source of sources) {
    if (signal.aborted) break;
    progress.begin(source.name);
    await addOne(source);
  }
  return files;
}
