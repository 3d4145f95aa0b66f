import type { TicketListInput } from "@svc/contracts";
import { listTickets } from "@svc/operations";
import { findAgent } from "../agents/find-agent.ts";
import type { Cli } from "../cli.ts";
import { readAll } from "../kb/find-kb.ts";
import { localPrincipal } from "../local-principal.ts";
import { shellWord } from "../shell-word.ts";
import { withResources } from "../with-resources.ts";
import { renderTickets } from "./render-tickets.ts";

/** What `tickets list` is told. */
export interface ListOptions {
  project: string;
  status?: string;
  stage?: string;
  channel?: string;
  /** Name or id. */
  agent?: string;
  assignee?: string;
  priority?: string;
  tag?: string;
  origin?: string;
  /** Deprecated name of `search`. */
  q?: string;
  search?: string;
  needsReview?: true;
  allProjects?: true;
  sort?: string;
  limit: number;
  cursor?: string;
  all?: true;
}

/** The options again, so that the next page is asked for with the same ones. */
function repeatOptions({ limit, needsReview, allProjects, ...options }: ListOptions): string {
  const words = Object.entries(options).flatMap(([name, value]) =>
    typeof value === "string" && name !== "cursor" ? [`--${name} ${shellWord(value)}`] : [],
  );
  const switches = [needsReview === true ? "--needs-review" : "", allProjects === true ? "--all-projects" : ""];
  return [...words, `--limit ${limit}`, ...switches.filter((word) => word !== "")].join(" ");
}

/** `svc tickets list`: the tickets of a project, by filters and words. */
export async function runList(cli: Cli, options: ListOptions): Promise<void> {
  const {
    project,
    channel,
    agent,
    needsReview,
    allProjects,
    all,
    limit,
    cursor,
    search,
    q = search,
    ...filters
  } = options;
  const { items, nextCursor } = await withResources(cli, {}, async ({ store }) => {
    const principal = await localPrincipal(store, project);
    const input: TicketListInput = {
      ...filters,
      ...(q === undefined ? {} : { q }),
      ...(channel === undefined ? {} : { channelId: channel }),
      ...(agent === undefined ? {} : { agentId: (await findAgent(store, principal, agent)).id }),
      ...(needsReview === true ? { needsReview: "1" } : {}),
      ...(allProjects === true ? { allProjects: "1" } : {}),
    };
    if (all !== true) return listTickets({ store }, principal, { ...input, limit, cursor });
    const everything = await readAll((page) => listTickets({ store }, principal, { ...input, ...page }));
    return { items: everything, nextCursor: null };
  });
  cli.terminal.show({ ok: true, project, items, nextCursor }, () => {
    if (items.length === 0) return "No matching tickets.";
    const table = renderTickets(items, cli.terminal, Date.now());
    if (nextCursor === null) return table;
    return `${table}\n\nNext page:  ${cli.self} tickets list ${repeatOptions(options)} --cursor ${nextCursor}`;
  });
}
