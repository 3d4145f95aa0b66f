import { queryOptions } from "@tanstack/react-query";
import type {
  DocumentItem,
  DocumentItemStatus,
  Gap,
  GapDetail,
  GapSort,
  GapStatus,
  ImportItem,
  KbHit,
  KbItem,
  Proposal,
  ProposalStatus,
} from "@svc/contracts";
import { definedParams, pagesQuery, readAll } from "./connection.ts";
import type { Connection } from "./connection.ts";

/** 50 MB at 1 Mbit/s take seven minutes. */
const UPLOAD_TIMEOUT_MS = 15 * 60_000;
/** Polling interval while documents are being read, and while none are. */
const READING_MS = 1_000;
const IDLE_MS = 10_000;

/** The knowledge bases of a project, polled. */
export const kbsQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["kbs", project],
    queryFn: ({ signal }): Promise<KbItem[]> =>
      readAll((query) => connection.call("listKbs", project, { query, signal })),
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === "ingesting") === true ? READING_MS : IDLE_MS,
  });

/** Filters of the documents of a knowledge base. */
export interface DocumentFilter {
  q: string;
  status: DocumentItemStatus | null;
}

/** The documents of a knowledge base, newest first, in pages; polled while one of them is queued. */
export const documentsQuery = (
  connection: Connection,
  { project, kbId, q, status }: DocumentFilter & { project: string; kbId: string },
) => ({
  ...pagesQuery(["documents", project, kbId, q, status], ({ query, signal }) =>
    connection.call("listDocuments", project, {
      params: { id: kbId },
      query: { ...query, ...definedParams({ q, status }) },
      signal,
    }),
  ),
  refetchInterval: ({ state }: { state: { data?: { pages: { items: DocumentItem[] }[] } | undefined } }) =>
    state.data?.pages.some(({ items }) => items.some((item) => item.status === "queued")) === true ? READING_MS : false,
});

/** The imports of websites into a knowledge base, newest first; polled while one is queued or running. */
export const importsQuery = (connection: Connection, { project, kbId }: { project: string; kbId: string }) =>
  queryOptions({
    queryKey: ["imports", project, kbId],
    queryFn: async ({ signal }): Promise<ImportItem[]> =>
      (await connection.call("listImports", project, { params: { id: kbId }, signal })).items,
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === "queued" || status === "running") === true ? READING_MS : false,
  });

/** The passages that a search in a knowledge base returns, best first. */
export const searchQuery = (
  connection: Connection,
  { project, kbId, q, limit }: { project: string; kbId: string; q: string; limit: number },
) =>
  queryOptions({
    queryKey: ["kb-search", project, kbId, q, limit],
    staleTime: 0,
    queryFn: async ({ signal }): Promise<KbHit[]> =>
      (await connection.call("searchKb", project, { params: { id: kbId }, query: { q, limit }, signal })).items,
  });

/** Adds one file to a knowledge base. */
export async function uploadFile(
  connection: Connection,
  { project, kbId, signal }: { project: string; kbId: string; signal: AbortSignal },
  file: File,
): Promise<DocumentItem> {
  const form = new FormData();
  form.append("file", file, file.name);
  const path = `/api/v1/admin/kb/${encodeURIComponent(kbId)}/documents`;
  const answer = await connection.send("POST", path, { project, form, signal, timeoutMs: UPLOAD_TIMEOUT_MS });
  // One file is returned as one document.
  return (answer as { item: DocumentItem }).item;
}

/** Sources of documents besides files: a text, a page to fetch, or all pages of a website. */
export type DocumentSource = { text: string; title: string } | { url: string } | { sitemap: string; maxPages?: number };

/** Adds a document, or the pages of a website, to a knowledge base. */
export async function addDocument(
  connection: Connection,
  { project, kbId }: { project: string; kbId: string },
  source: DocumentSource,
): Promise<void> {
  await connection.call("addDocuments", project, { params: { id: kbId }, body: source });
}

/** Removes a finished import of a website from the list; its documents stay. */
export async function removeImport(
  connection: Connection,
  { project, kbId }: { project: string; kbId: string },
  importId: string,
): Promise<void> {
  await connection.call("deleteImport", project, { params: { id: kbId, importId } });
}

/** Names of the knowledge bases that are installed with the service: its own guide, and the demo page's shop. */
export const INSTALLED_KBS: readonly string[] = ["guide", "demo shop"];

/** Returns the knowledge base for the project's own documents, or undefined if there is none yet. */
export const ownKb = (kbs: readonly KbItem[]): KbItem | undefined =>
  kbs.find(({ documents, name }) => !INSTALLED_KBS.includes(name) && documents > 0) ??
  kbs.find(({ name }) => !INSTALLED_KBS.includes(name));

/** Questions without a good answer, in pages. */
export const gapsQuery = (
  connection: Connection,
  { project, status, sort, q }: { project: string; status: GapStatus; sort: GapSort; q: string },
) =>
  pagesQuery(["gaps", project, status, sort, q], ({ query, signal }) =>
    connection.call("listGaps", project, { query: { ...query, status, sort, ...definedParams({ q }) }, signal }),
  );

/** A gap with the answer that the agents would give now. */
export const gapQuery = (connection: Connection, project: string, id: string) =>
  queryOptions({
    queryKey: ["gap", project, id],
    queryFn: async ({ signal }): Promise<GapDetail> =>
      (await connection.call("getGap", project, { params: { id }, signal })).item,
  });

/** Changes the status of a gap. Throws version_conflict if the gap has changed since. */
export async function markGap(
  connection: Connection,
  project: string,
  { id, version, status }: Pick<Gap, "id" | "version" | "status">,
): Promise<Gap> {
  return (await connection.call("updateGap", project, { params: { id }, body: { status }, ifMatch: version })).item;
}

const PROPOSALS_LIMIT = 30;

/** Proposed changes to knowledge bases, newest first, in pages. */
export const proposalsQuery = (connection: Connection, project: string, status: ProposalStatus) =>
  pagesQuery(
    ["proposals", project, status],
    ({ query, signal }) => connection.call("listProposals", project, { query: { ...query, status }, signal }),
    PROPOSALS_LIMIT,
  );

/** Accepts a proposed change, or rejects it. Throws version_conflict if the proposal has changed since. */
export async function decideProposal(
  connection: Connection,
  project: string,
  { id, version }: Pick<Proposal, "id" | "version">,
  decision: { kind: "accept" } | { kind: "reject"; reason: string },
): Promise<Proposal> {
  const target = { params: { id }, ifMatch: version };
  if (decision.kind === "accept") return (await connection.call("acceptProposal", project, target)).item;
  const body = definedParams({ reason: decision.reason.trim() });
  return (await connection.call("rejectProposal", project, { ...target, body })).item;
}
