import type { ToolCallState } from "@svc/contracts";
import { listToolCalls } from "@svc/operations";
import type { Cli } from "../cli.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";
import { renderToolCalls } from "./render-tool-calls.ts";

/** What `tool-calls list` is told. */
export interface ListOptions {
  state?: ToolCallState;
  limit: number;
  cursor?: string;
  project: string;
}

/** `svc tool-calls list`: the calls of the tools of a project's agents, newest first. */
export async function runList(cli: Cli, { state, limit, cursor, project }: ListOptions): Promise<void> {
  const { items, nextCursor } = await withResources(cli, {}, async ({ store }) =>
    listToolCalls({ store }, await localPrincipal(store, project), { state, limit, cursor }),
  );
  cli.terminal.show({ ok: true, project, items, nextCursor }, () => {
    if (items.length === 0) return "No matching tool calls.";
    const table = renderToolCalls(items, cli.terminal);
    if (nextCursor === null) return table;
    const filters = [...(state === undefined ? [] : [`--state ${state}`]), `--project ${project} --limit ${limit}`];
    return `${table}\n\nNext page:  ${cli.self} tool-calls list ${filters.join(" ")} --cursor ${nextCursor}`;
  });
}
