import { hashSource, identifyDocument, readFileDocument } from "@svc/knowledge";
import type { CheckedDocument, DocumentInput, FileToIngest } from "@svc/knowledge";
import type { ClaimedIngest, DocumentSource, IngestKind } from "@svc/store";
import type { IngestContext } from "./ingest-context.ts";
import { reading } from "./reading-fault.ts";

/** What a document is read from. */
interface Source {
  file: FileToIngest;
  hash: Buffer;
  /** Null where it is plain or Markdown text already, which need not be read by anything. */
  text: DocumentInput | null;
}

/** A document that was read and checked, and what it was read from. */
export interface ReadDocument {
  checked: CheckedDocument;
  source: DocumentSource;
}

const TEXT_MIMES: ReadonlySet<string> = new Set(["text/markdown", "text/plain"]);
/** Names that tell the reader what a text of this media type is. */
const NAMES_OF_TEXTS: Readonly<Record<string, string>> = { "text/html": "text.html", "text/csv": "text.csv" };

/** The optional fields that have a value. */
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
  const type = mime ?? "text/markdown";
  const file = { key, name: NAMES_OF_TEXTS[type] ?? key, bytes, ...given({ mime, title, url }) };
  if (!TEXT_MIMES.has(type)) return { file, hash, text: null };
  return { file, hash, text: { key, text: bytes.toString("utf8"), mime: type, ...given({ title, url }) } };
}

async function openFile({ store }: IngestContext, claim: ClaimedIngest): Promise<Source | null> {
  const bytes = await store.ingests.readBytes(claim);
  if (bytes === null) return null;
  const { key, name, mime, title, url } = claim;
  const file = { key, name, bytes, ...given({ mime, title, url }) };
  return { file, hash: claim.sourceHash ?? hashSource(file), text: null };
}

async function openPage({ fetcher }: IngestContext, claim: ClaimedIngest, signal: AbortSignal): Promise<Source> {
  const { key, title } = claim;
  const { url, bytes, mime } = await reading(() => fetcher.fetch(claim.url ?? "", signal));
  const file = { key, name: new URL(url).pathname, bytes, url, ...given({ mime, title }) };
  return { file, hash: hashSource(file), text: null };
}

const OPEN = { text: openText, file: openFile, page: openPage } satisfies Record<
  Exclude<IngestKind, "sitemap">,
  OpenSource
>;

/**
 * Reads the document of an ingest: null when nothing has to be done, because the same was read before or the ingest is
 * gone. Throws `ReadingFault` for what is wrong with the document or its site, and the store's errors as they are.
 */
export async function readDocument(
  context: IngestContext,
  claim: ClaimedIngest & { kind: keyof typeof OPEN },
  signal: AbortSignal,
): Promise<ReadDocument | null> {
  const opened = await OPEN[claim.kind](context, claim, signal);
  if (opened === null) return null;
  const { file, hash, text } = opened;
  const { store, reader } = context;
  if ((await store.documents.findBySource(claim.project, claim.kbId, claim.key, hash)) !== null) return null;
  const sizeBytes = file.bytes.byteLength;
  if (text !== null) {
    const checked = await reading(() => identifyDocument(text));
    return { checked, source: { hash, mime: text.mime, sizeBytes } };
  }
  const { document, source } = await reading(() => readFileDocument(reader, file, signal));
  return { checked: await reading(() => identifyDocument(document)), source: { hash, ...source } };
}
