import type { DocumentItem, KbItem } from "@svc/contracts";
import type { Cli } from "../cli.ts";
import { localPrincipal } from "../local-principal.ts";
import { renderTable } from "../render-table.ts";
import { safeLine } from "../safe-text.ts";
import type { Terminal } from "../terminal.ts";
import { withResources } from "../with-resources.ts";
import { getKb, listAllDocuments, listAllKbs } from "./find-kb.ts";

/** What `kb list` is told. */
export interface ListOptions {
  /** Without it the knowledge bases themselves are listed. */
  kb?: string;
  project: string;
}

const NAME_CHARS = 60;

const second = (time: string) => `${time.slice(0, 19)}Z`;

function describeState({ queued, failed }: KbItem, { yellow, red, green }: Terminal["paint"]): string {
  const parts = [
    ...(queued > 0 ? [yellow(`${queued} waiting`)] : []),
    ...(failed > 0 ? [red(`${failed} failed`)] : []),
  ];
  return parts.length === 0 ? green("ready") : parts.join(", ");
}

/** Knowledge bases as a table. */
export function renderKbs(kbs: readonly KbItem[], { paint, width }: Terminal): string {
  const rows = kbs.map((kb) => [
    safeLine(kb.name, NAME_CHARS),
    String(kb.documents),
    String(kb.chunks),
    second(kb.updatedAt),
    describeState(kb, paint),
  ]);
  return renderTable(["NAME", "DOCUMENTS", "PASSAGES", "UPDATED", "STATE"], rows, width);
}

/** Documents as a table: what each is known as, how it is, and its title or why it failed. */
export function renderDocuments(documents: readonly DocumentItem[], { paint, width }: Terminal): string {
  const { green, yellow, red } = paint;
  const statuses = { ready: green("ready"), queued: yellow("waiting"), failed: red("failed") } satisfies Record<
    DocumentItem["status"],
    string
  >;
  const rows = documents.map((document) => [
    safeLine(document.key, NAME_CHARS),
    statuses[document.status],
    String(document.chunks),
    second(document.updatedAt),
    safeLine(document.error ?? document.title, document.error === null ? NAME_CHARS : undefined),
  ]);
  return renderTable(["DOCUMENT", "STATUS", "PASSAGES", "UPDATED", "TITLE"], rows, width);
}

/** `svc kb list`: the knowledge bases of a project, or the documents of one. */
export async function runList(cli: Cli, { kb, project }: ListOptions): Promise<void> {
  const { terminal } = cli;
  await withResources(cli, {}, async ({ store }) => {
    const principal = await localPrincipal(store, project);
    if (kb === undefined) {
      const items = await listAllKbs(store, principal);
      terminal.show({ ok: true, project, items }, () =>
        items.length === 0 ? "There are no knowledge bases." : renderKbs(items, terminal),
      );
      return;
    }
    const { id } = await getKb(store, principal, kb);
    const items = await listAllDocuments(store, principal, id);
    terminal.show({ ok: true, project, kb, items }, () =>
      items.length === 0 ? "There are no documents in this knowledge base." : renderDocuments(items, terminal),
    );
  });
}
