import type { StatsInput } from "@svc/contracts";
import { getStats } from "@svc/operations";
import { findAgent } from "../agents/find-agent.ts";
import type { Cli } from "../cli.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";
import { renderStats } from "./render-stats.ts";

/** What `stats` is told. */
export interface StatsOptions {
  project: string;
  from?: string;
  to?: string;
  channel?: string;
  /** Name or id. */
  agent?: string;
}

/** `svc stats`: how a project fared in a span of time. */
export async function runStats(cli: Cli, { project, from, to, channel, agent }: StatsOptions): Promise<void> {
  const stats = await withResources(cli, {}, async ({ store }) => {
    const principal = await localPrincipal(store, project);
    const input: StatsInput = {
      from,
      to,
      channelId: channel,
      ...(agent === undefined ? {} : { agentId: (await findAgent(store, principal, agent)).id }),
    };
    return getStats({ store }, principal, input);
  });
  cli.terminal.show({ ok: true, project, ...stats }, () => renderStats(stats, cli.terminal));
}
