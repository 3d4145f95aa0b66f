import type { AuditItem } from "@svc/contracts";
import { listAuditEvents } from "@svc/operations";
import type { Cli } from "../cli.ts";
import { localPrincipal } from "../local-principal.ts";
import { renderTable } from "../render-table.ts";
import { safeLine } from "../safe-text.ts";
import { shellWord } from "../shell-word.ts";
import type { Terminal } from "../terminal.ts";
import { withResources } from "../with-resources.ts";

/** What rows can be chosen by. */
interface Filters {
  project?: string;
  actor?: string;
  action?: string;
  object?: string;
  result?: string;
  from?: string;
  to?: string;
}

/** Options of `audit list`. */
export interface ListOptions extends Filters {
  limit: number;
  cursor?: string;
}

const OBJECT_CHARS = 120;

function renderEvents(items: readonly AuditItem[], { paint, width }: Terminal): string {
  const { green, red, dim } = paint;
  const rows = items.map(({ at, actor, action, object, project, result, requestId, count, network }) => [
    `${at.slice(0, 19)}Z`,
    safeLine(project ?? "-"),
    result === "ok" ? green("ok") : red(safeLine(result)),
    [
      `${safeLine(action)}${count === 1 ? "" : ` (${count} times)`} by ${safeLine(actor)}`,
      ...(object === null ? [] : [`on ${safeLine(object, OBJECT_CHARS)}`]),
      ...(network === null ? [] : [dim(`from ${safeLine(network)}`)]),
      ...(requestId === null ? [] : [dim(`request ${safeLine(requestId)}`)]),
    ].join("\n"),
  ]);
  return renderTable(["TIME", "PROJECT", "RESULT", "EVENT"], rows, width);
}

/** `svc audit list`: what was done and what was refused. */
export async function runList(cli: Cli, options: ListOptions): Promise<void> {
  const { project, actor, action, object, result, from, to, limit, cursor } = options;
  const filters = { project, actor, action, object, result, from, to };
  const { items, nextCursor } = await withResources(cli, {}, async ({ store }) =>
    listAuditEvents({ store }, await localPrincipal(store), { ...filters, limit, cursor }),
  );
  cli.terminal.show({ ok: true, items, nextCursor }, () => {
    if (items.length === 0) return "No matching events.";
    const table = renderEvents(items, cli.terminal);
    if (nextCursor === null) return table;
    const words = Object.entries({ ...filters, limit: String(limit) }).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}`, shellWord(safeLine(value))],
    );
    return `${table}\n\nNext page:  ${[cli.self, "audit list", ...words, "--cursor", nextCursor].join(" ")}`;
  });
}
