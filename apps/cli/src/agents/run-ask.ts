import type { Agent, AgentResult } from "@svc/contracts";
import { executeAgent } from "@svc/operations";
import type { Cli } from "../cli.ts";
import { localPrincipal } from "../local-principal.ts";
import { renderSources } from "../render-answer.ts";
import { safeLine, safeText } from "../safe-text.ts";
import { withResources } from "../with-resources.ts";
import { findAgent } from "./find-agent.ts";

/** What `agents ask` is told. */
export interface AskAgentOptions {
  project: string;
  context?: string;
}

/** What would become of the answer in a chat. */
function describeFate({ reviewPolicy, autoThreshold }: Agent, { output, confidence }: AgentResult): string {
  const isSure = reviewPolicy === "auto" || (reviewPolicy === "auto_if" && confidence >= autoThreshold);
  return output.text !== null && isSure ? "In a chat it would be sent." : "In a chat a person would look at it first.";
}

/** `svc agents ask`: asks one agent, without a chat and without triage. */
export async function runAsk(cli: Cli, name: string, input: string, options: AskAgentOptions): Promise<void> {
  const { project, context } = options;
  const { agent, result } = await withResources(cli, {}, async ({ store, embeddings }) => {
    const principal = await localPrincipal(store, project);
    const found = await findAgent(store, principal, name);
    const call = { input, ...(context === undefined ? {} : { context }) };
    return { agent: found, result: await executeAgent({ store, embeddings }, principal, found.id, call) };
  });
  cli.terminal.show({ ok: true, project, agent: { id: agent.id, name: agent.name }, ...result }, () =>
    [
      result.output.text === null ? "It has nothing to say." : safeText(result.output.text),
      "",
      ...(result.sources.length === 0 ? [] : [renderSources(result.sources, cli.terminal.paint), ""]),
      cli.terminal.paint.dim(`${safeLine(result.why)} ${describeFate(agent, result)}`),
    ].join("\n"),
  );
}
