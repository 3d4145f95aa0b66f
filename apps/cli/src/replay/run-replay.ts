import type { Client } from "@svc/client";
import type { ReplayInput, ReplayResult } from "@svc/contracts";
import { fetchAgents, pickAgent } from "../agents/find-agent.ts";
import { withClient } from "../api-client.ts";
import { makeApiTarget } from "../api-target.ts";
import type { Cli } from "../cli.ts";
import { EXIT } from "../exit-codes.ts";
import { watchInterrupt } from "../watch-interrupt.ts";
import { readAgainst } from "./read-against.ts";
import { renderReplay } from "./render-replay.ts";
import { replayInParts } from "./replay-in-parts.ts";

/** What `replay` is told. */
export interface ReplayOptions {
  project: string;
  url?: string;
  /** Name or id. */
  agent: string;
  /** A file, or name or id of an agent. */
  against: string;
  limit: number;
  from?: string;
  to?: string;
  ticket?: string[];
  /** Milliseconds. */
  timeout: number;
  failIfWorse?: true;
}

/** Whether the change must not go to work by itself: more got worse than better, or nobody knows. */
export function isWorse({ summary, isComplete }: Pick<ReplayResult, "summary" | "isComplete">): boolean {
  return summary.worse > summary.better || !isComplete;
}

/** How much longer than it may take an answer is waited for. */
const PATIENCE_MS = 70_000;

/**
 * `svc replay`: past replies of people, answered by an agent as it is and as it would be. The running service does it:
 * only it has the language models that its agents use.
 */
export async function runReplay(cli: Cli, options: ReplayOptions): Promise<void> {
  const { project, limit, from, to, ticket, timeout, failIfWorse = false } = options;
  const { terminal } = cli;
  const target = await makeApiTarget(cli, { project, ...(options.url === undefined ? {} : { url: options.url }) });
  const interrupt = watchInterrupt();
  const { signal } = interrupt;
  const replay = async (client: Client): Promise<ReplayResult> => {
    const agents = await fetchAgents(client);
    const { id } = pickAgent(agents, options.agent);
    const input: ReplayInput = {
      against: await readAgainst(cli, agents, options.against),
      limit,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
      ...(ticket === undefined ? {} : { ticketIds: ticket }),
    };
    const ask = async (body: ReplayInput) => {
      const { ok: _ok, ...part } = await client.call("replayAgent", { params: { id }, body, signal });
      return part;
    };
    terminal.status("comparing replies");
    const onProgress = (done: number, total: number) => terminal.status(`${done} of ${total} replies compared`);
    return replayInParts(ask, input, { timeoutMs: timeout, onProgress });
  };
  let result: ReplayResult;
  try {
    result = await withClient(target, replay, { timeoutMs: PATIENCE_MS });
  } finally {
    terminal.status(null);
    interrupt.release();
  }
  terminal.show({ ok: true, project, ...result }, () => renderReplay(result, terminal));
  if (failIfWorse && isWorse(result)) {
    terminal.note(
      `${result.summary.worse} worse, ${result.summary.better} better: exit code 1, because of --fail-if-worse.`,
    );
    cli.setExitCode(EXIT.failed);
  }
}
