import type { Principal } from "@svc/auth";
import type { StatsInput } from "@svc/contracts";
import { getAnswerStats, getStats } from "@svc/operations";
import type { Store } from "@svc/store";
import { findAgent } from "../agents/find-agent.ts";
import type { Cli } from "../cli.ts";
import { localPrincipal } from "../local-principal.ts";
import { withResources } from "../with-resources.ts";
import { renderAnswerStats } from "./render-answer-stats.ts";
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

/** Reads figures of the span, channel and agent that the options name. */
function readFigures<Figures>(
  cli: Cli,
  { project, from, to, channel, agent }: StatsOptions,
  read: (context: { store: Store }, principal: Principal, input: StatsInput) => Promise<Figures>,
): Promise<Figures> {
  return withResources(cli, {}, async ({ store }) => {
    const principal = await localPrincipal(store, project);
    const input: StatsInput = {
      from,
      to,
      channelId: channel,
      ...(agent === undefined ? {} : { agentId: (await findAgent(store, principal, agent)).id }),
    };
    return read({ store }, principal, input);
  });
}

/** `svc stats`: how a project fared in a span of time. */
export async function runStats(cli: Cli, options: StatsOptions): Promise<void> {
  const stats = await readFigures(cli, options, getStats);
  cli.terminal.show({ ok: true, project: options.project, ...stats }, () => renderStats(stats, cli.terminal));
}

/** `svc stats answers`: what became of the agents' answers in a span of time. */
export async function runAnswerStats(cli: Cli, options: StatsOptions): Promise<void> {
  const stats = await readFigures(cli, options, getAnswerStats);
  cli.terminal.show({ ok: true, project: options.project, ...stats }, () => renderAnswerStats(stats, cli.terminal));
}
