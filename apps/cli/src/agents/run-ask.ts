import { sendsAnswer } from "@svc/agents";
import type { Client } from "@svc/client";
import type { Agent, AgentCall, AgentResult } from "@svc/contracts";
import { executeAgent } from "@svc/operations";
import { readEnvironment } from "@svc/runtime";
import { apiUrlOf, probeApi, withClient } from "../api-client.ts";
import type { ApiTarget } from "../api-client.ts";
import { makeApiTarget } from "../api-target.ts";
import type { Cli } from "../cli.ts";
import { findKey } from "../find-key.ts";
import { localPrincipal } from "../local-principal.ts";
import { renderSources } from "../render-answer.ts";
import { safeLine, safeText } from "../safe-text.ts";
import { withResources } from "../with-resources.ts";
import { fetchAgents, findAgent, pickAgent } from "./find-agent.ts";

/** Options of `agents ask`. */
export interface AskAgentOptions {
  project: string;
  context?: string;
  url?: string;
}

/** An agent may call its model and its tools several times, each of them for up to SVC_LLM_TIMEOUT_MS. */
const PATIENCE_MS = 10 * 60_000;

interface Asked {
  agent: Agent;
  result: AgentResult;
}

/** What would become of the answer in a chat; what has to be held whatever the policy says comes without a text. */
function describeFate(agent: Agent, { output, confidence, why }: AgentResult): string {
  const { sends, needsPerson } = sendsAnswer(agent, { text: output.text, confidence, why });
  if (!sends) return "In a chat, an operator would review it first.";
  return needsPerson === true
    ? "In a chat, it would be sent, and an operator would follow up."
    : "In a chat, it would be sent.";
}

/** The running service that is to be asked: the one at `--url`, else the one of this installation; null without it. */
async function findService(cli: Cli, { project, url }: AskAgentOptions): Promise<ApiTarget | null> {
  if (url !== undefined) return makeApiTarget(cli, { url, project });
  const config = readEnvironment(cli.env);
  const key = await findKey(config);
  if (key === null || (await probeApi(apiUrlOf(config), key)).kind !== "ours") return null;
  return makeApiTarget(cli, { project });
}

function askService(target: ApiTarget, name: string, call: AgentCall): Promise<Asked> {
  const ask = async (client: Client): Promise<Asked> => {
    const agent = pickAgent(await fetchAgents(client), name);
    const answer = await client.call("executeAgent", { params: { id: agent.id }, body: call });
    const { ok: _ok, ...result } = answer;
    return { agent, result };
  };
  return withClient(target, ask, { timeoutMs: PATIENCE_MS });
}

function askHere(cli: Cli, project: string, name: string, call: AgentCall): Promise<Asked> {
  return withResources(cli, {}, async ({ store, embeddings, models, openTools }) => {
    const model = models === null ? "without a language model" : "with the language models of this environment";
    cli.terminal.note(
      `The service of this installation is not running; answered with the settings of this environment, ${model}.`,
    );
    const principal = await localPrincipal(store, project);
    const agent = await findAgent(store, principal, name);
    const deps = { store, embeddings, models, openTools };
    return { agent, result: await executeAgent(deps, principal, agent.id, call) };
  });
}

/**
 * `svc agents ask`: asks one agent, without a chat and without triage. The running service answers, since only it has its
 * settings; where none runs, this process does, and says so.
 */
export async function runAsk(cli: Cli, name: string, input: string, options: AskAgentOptions): Promise<void> {
  const { project, context } = options;
  const call = { input, ...(context === undefined ? {} : { context }) };
  const service = await findService(cli, options);
  const { agent, result } =
    service === null ? await askHere(cli, project, name, call) : await askService(service, name, call);
  cli.terminal.show({ ok: true, project, agent: { id: agent.id, name: agent.name }, ...result }, () =>
    [
      result.output.text === null ? "No answer." : safeText(result.output.text),
      "",
      ...(result.sources.length === 0 ? [] : [renderSources(result.sources, cli.terminal.paint), ""]),
      cli.terminal.paint.dim(`${safeLine(result.why)} ${describeFate(agent, result)}`),
    ].join("\n"),
  );
}
