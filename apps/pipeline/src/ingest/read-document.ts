import { ServiceError } from "@svc/contracts";
import { hashSource } from "@svc/knowledge";
import type { CheckedDocument, FileReader, FileToIngest, PageFetcher } from "@svc/knowledge";
import type { Log } from "@svc/log";
import type { Queues } from "@svc/queue";
import type { ClaimedIngest, DocumentSource, IngestKind, Store } from "@svc/store";

/** Dependencies of reading documents. */
export interface IngestContext {
  store: Store;
  queues: Queues;
  log: Log;
  reader: FileReader;
  fetcher: PageFetcher;
}

/** Error of reading a document or site, with its cause. Any other error is the service's own. */
export class ReadingError extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : "The document could not be read.", { cause });
    this.name = "ReadingError";
  }

  /** True if every attempt would fail in the same way because of the document itself. */
  get isFinal(): boolean {
    return this.cause instanceof ServiceError && FINAL.has(this.cause.code);
  }
}

const FINAL: ReadonlySet<string> = new Set(["invalid_request", "payload_too_large", "unsupported_media_type"]);

/** Runs a function that reads a document, and throws its error as a `ReadingError`. */
export async function reading<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw new ReadingError(error);
  }
}

/** Source of a document. */
interface Source {
  file: FileToIngest;
  hash: Buffer;
}

/** A document that was read and split into passages, with its source. */
export interface ReadDocument {
  checked: CheckedDocument;
  source: DocumentSource;
}

/** Formats of submitted texts by their media type. */
const TEXT_FORMATS: Readonly<Record<string, NonNullable<FileToIngest["format"]>>> = {
  "text/plain": "plain",
  "text/markdown": "markdown",
  "text/html": "html",
  "text/csv": "csv",
};

/** Returns the optional fields that have a value. */
function given<Fields extends Record<string, string | null>>(fields: Fields): { [Name in keyof Fields]?: string } {
  const present = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(present) as { [Name in keyof Fields]?: string };
}

type OpenSource = (context: IngestContext, claim: ClaimedIngest, signal: AbortSignal) => Promise<Source | null>;

async function openText({ store }: IngestContext, claim: ClaimedIngest): Promise<Source | null> {
  const bytes = await store.ingests.readBytes(claim);
  if (bytes === null) return null;
  const { key, mime, title, url } = claim;
  const hash = claim.sourceHash ?? hashSource({ name: "", bytes, ...given({ mime, title, url }) });
  const format = TEXT_FORMATS[mime ?? ""] ?? "markdown";
  return { file: { key, name: key, bytes, format, ...given({ mime, title, url }) }, hash };
}

async function openFile({ store }: IngestContext, claim: ClaimedIngest): Promise<Source | null> {
  const bytes = await store.ingests.readBytes(claim);
  if (bytes === null) return null;
  const { key, name, mime, title, url } = claim;
  const file = { key, name, bytes, ...given({ mime, title, url }) };
  return { file, hash: claim.sourceHash ?? hashSource(file) };
}

async function openPage({ fetcher }: IngestContext, claim: ClaimedIngest, signal: AbortSignal): Promise<Source> {
  const { key, title } = claim;
  const { url, bytes, mime } = await reading(() => fetcher.fetch(claim.url ?? "", signal));
  const file = { key, name: new URL(url).pathname, bytes, url, ...given({ mime, title }) };
  return { file, hash: hashSource(file) };
}

const OPEN = { text: openText, file: openFile, page: openPage } satisfies Record<
  Exclude<IngestKind, "sitemap">,
  OpenSource
>;

/**
 * Reads the document of an ingest. Returns null if there is nothing to do because the same content was read before or
 * the ingest was deleted. Throws `ReadingError` for errors of the document or its site, and the store's errors
 * unchanged.
 */
export async function readDocument(
  context: IngestContext,
  claim: ClaimedIngest & { kind: keyof typeof OPEN },
  signal: AbortSignal,
): Promise<ReadDocument | null> {
  const opened = await OPEN[claim.kind](context, claim, signal);
  if (opened === null) return null;
  const { file, hash } = opened;
  const { store, reader } = context;
  if ((await store.documents.findBySource(claim.project, claim.kbId, { key: claim.key, hash })) !== null) return null;
  const { checked, source } = await reading(() => reader.readDocument(file, signal));
  return { checked, source: { hash, ...source } };
}
