import { searchWithEmbeddings } from "@svc/knowledge";
import type { SearchHit } from "@svc/knowledge";
import type { Cli } from "../cli.ts";
import { localPrincipal } from "../local-principal.ts";
import { safeLine } from "../safe-text.ts";
import type { Terminal } from "../terminal.ts";
import { withResources } from "../with-resources.ts";
import { getKb, listAllKbs } from "./find-kb.ts";

/** What `kb search` is told. */
export interface SearchOptions {
  /** Without it all knowledge bases of the project are searched. */
  kb?: string;
  project: string;
  limit: number;
}

/** A passage that was found, with the name of its knowledge base. */
export type FoundPassage = Omit<SearchHit, "kbId"> & { kb: string };

/** What is shown of a passage: enough to know it again. */
const SNIPPET_CHARS = 300;
const LINE_CHARS = 200;

function renderHit(hit: FoundPassage, index: number, { paint }: Terminal): string {
  // The title of a document is mostly its first heading.
  const headings = hit.headingPath[0] === hit.title ? hit.headingPath : [hit.title, ...hit.headingPath];
  const place = headings.map((part) => safeLine(part, LINE_CHARS)).join(" › ");
  const origin = [safeLine(hit.kb, LINE_CHARS), ...(hit.url === undefined ? [] : [safeLine(hit.url, LINE_CHARS)])];
  return [
    `${index + 1}. ${paint.bold(place)}`,
    `   score ${hit.score.toFixed(2)}, ${origin.join(", ")}`,
    `   ${safeLine(hit.text, SNIPPET_CHARS)}`,
  ].join("\n");
}

/** Passages as a person reads them, best first. Texts of strangers are made harmless. */
export function renderHits(hits: readonly FoundPassage[], terminal: Terminal): string {
  return hits.length === 0
    ? "Nothing matches."
    : hits.map((hit, index) => renderHit(hit, index, terminal)).join("\n\n");
}

/** `svc kb search`: the passages that an agent would answer from. */
export async function runSearch(cli: Cli, query: string, { kb, project, limit }: SearchOptions): Promise<void> {
  const hits = await withResources(cli, {}, async ({ store, embeddings }) => {
    const principal = await localPrincipal(store, project);
    const kbs = kb === undefined ? await listAllKbs(store, principal) : [await getKb(store, principal, kb)];
    const names = new Map(kbs.map(({ id, name }) => [id, name]));
    const search = { query, kbIds: [...names.keys()], limit };
    const found = await searchWithEmbeddings({ store, embeddings }, principal.project, search);
    return found.hits.map(({ kbId, ...hit }) => ({ kb: names.get(kbId) ?? "", ...hit }));
  });
  cli.terminal.show({ ok: true, project, query, hits }, () => renderHits(hits, cli.terminal));
}
