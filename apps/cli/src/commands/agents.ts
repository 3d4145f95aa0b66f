import type { Client } from "@svc/client";
import type { Agent, AgentCall, AgentChange, AgentResult, AgentTool, KbItem, ReviewPolicy } from "@svc/contracts";
import { AGENT_SETTINGS, kbIdsOf, readExamples, readModelSettings, settingsOf } from "../agents/agent-settings.ts";
import { findRunningService, withClient } from "../api-client.ts";
import type { ApiTarget } from "../api-client.ts";
import { asAdministrator, fetchAgents, getAgent, listAllAgents, listAllKbs, pickAgent } from "../as-administrator.ts";
import type { BoundOperations } from "../as-administrator.ts";
import { usageError } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import { definedOnly, flag, list as repeatable, option, projectOption, urlOption, yesOption } from "../options.ts";
import { confirm } from "../read-input.ts";
import { renderSources, renderFacts, renderTable } from "../render-table.ts";
import { safeLine, safeText } from "../terminal.ts";
import type { Terminal } from "../terminal.ts";

const NAME_CHARS = 60;
const TEXT_CHARS = 300;

const POLICIES: Record<ReviewPolicy, (threshold: number) => string> = {
  auto: () => "auto",
  review: () => "review",
  auto_if: (threshold) => `auto_if, threshold ${threshold}`,
};

const describePolicy = ({ reviewPolicy, autoThreshold }: Agent) => POLICIES[reviewPolicy](autoThreshold);

/** Returns what an agent answers from, in words. `kbNames` has the names of knowledge bases by their ids. */
function describeAnswers({ fixedReply, kbIds }: Agent, kbNames: ReadonlyMap<string, string>): string {
  if (fixedReply !== null) return `fixed reply: ${safeLine(fixedReply, NAME_CHARS)}`;
  if (kbIds.length === 0) return "none yet";
  return kbIds.map((id) => safeLine(kbNames.get(id) ?? id, NAME_CHARS)).join(", ");
}

/** Returns the model of an agent, in words. */
const describeModel = ({ model }: Agent) => (model === null ? "default" : safeLine(model, NAME_CHARS));

/**
 * Returns a tool with its permissions. An MCP server's own tools define theirs. Headers are secrets and not shown.
 */
function describeTool(tool: AgentTool): string {
  const name = safeLine(tool.name, NAME_CHARS);
  if (tool.type === "http")
    return `${name} (${tool.access}${tool.approval === "operator" ? ", requires approval" : ""})`;
  const count = tool.allow === null ? "all" : String(tool.allow.length);
  return `${name} (MCP, ${count} tools)`;
}

/** Returns the tools of an agent, one per line. */
const describeTools = ({ tools }: Agent) => tools.map(describeTool).join("\n");

/** Returns agents as a table. */
function renderAgents(
  agents: readonly Agent[],
  kbNames: ReadonlyMap<string, string>,
  { paint, width }: Terminal,
): string {
  const rows = agents.map((agent) => [
    safeLine(agent.name, NAME_CHARS),
    agent.enabled ? paint.green("enabled") : paint.yellow("disabled"),
    String(agent.examples.length),
    describePolicy(agent),
    describeModel(agent),
    describeTools(agent),
    describeAnswers(agent, kbNames),
  ]);
  return renderTable(["NAME", "STATE", "EXAMPLES", "POLICY", "MODEL", "TOOLS", "ANSWERS FROM"], rows, width);
}

/** Returns one agent as text. */
function renderAgent(agent: Agent, kbNames: ReadonlyMap<string, string>): string {
  const { name, description, instructions, examples, tools, model, enabled, id } = agent;
  return renderFacts([
    ["name", safeLine(name, NAME_CHARS)],
    ["id", id],
    ["description", description !== "" && safeLine(description, TEXT_CHARS)],
    ["answers from", describeAnswers(agent, kbNames)],
    ["policy", describePolicy(agent)],
    ["model", model === null ? "default (SVC_LLM_MODEL, if set)" : describeModel(agent)],
    ["instructions", instructions !== "" && safeLine(instructions, TEXT_CHARS)],
    ["tools", tools.length > 0 && describeTools(agent)],
    ["examples", String(examples.length)],
    ["state", !enabled && "off"],
  ]);
}

const namesOf = (kbs: readonly KbItem[]) => new Map(kbs.map(({ id, name }) => [id, name]));

const list = defineCommand({
  description: "list the agents of a project",
  options: { project: projectOption },
  examples: ["agents list", "agents list --project shop --json"],
  async run(cli, { project }) {
    const { items, kbs } = await asAdministrator(cli, project, async (operations) => ({
      items: await listAllAgents(operations),
      kbs: await listAllKbs(operations),
    }));
    cli.terminal.show({ ok: true, project, items }, () =>
      items.length === 0
        ? `There are no agents. Create one with: ${cli.self} agents create NAME --kb KNOWLEDGE-BASE`
        : renderAgents(items, namesOf(kbs), cli.terminal),
    );
  },
});

/** Shows the agent that `work` returns, with the names of its knowledge bases. */
async function showAgent(
  cli: Cli,
  project: string,
  work: (operations: BoundOperations) => Promise<Agent>,
): Promise<Agent> {
  const { item, kbs } = await asAdministrator(cli, project, async (operations) => ({
    item: await work(operations),
    kbs: await listAllKbs(operations),
  }));
  cli.terminal.show({ ok: true, project, item }, () => renderAgent(item, namesOf(kbs)));
  return item;
}

const AGENT = { "<agent>": "name or ID of the agent" } as const;

const show = defineCommand({
  description: "show an agent",
  args: AGENT,
  options: { project: projectOption },
  examples: ["agents show billing"],
  async run(cli, { agent, project }) {
    await showAgent(cli, project, (operations) => getAgent(operations, agent));
  },
});

const create = defineCommand({
  description: "create an agent",
  args: { "<name>": "name, unique in the project; also used for routing" },
  options: { ...AGENT_SETTINGS, project: projectOption },
  about: `The agent receives messages within seconds, without a restart. If there are several agents, messages are routed by
name, description, examples and knowledge bases. For best results, add at least ten examples per agent, worded as
customers write them.`,
  examples: [
    'agents create billing --kb invoices --description "Invoices, payments and refunds."',
    "agents create repairs --kb manuals --examples repairs.txt --policy review",
    'agents create night --fixed-reply "We are back at nine." --policy auto',
  ],
  async run(cli, input) {
    const { name, project, kb = [] } = input;
    const examples = await readExamples(cli, input);
    const settings = { ...settingsOf(input), ...(await readModelSettings(cli, input)), ...definedOnly({ examples }) };
    const item = await showAgent(cli, project, async (operations) =>
      operations.createAgent({ ...settings, name, kbIds: await kbIdsOf(operations, kb) }),
    );
    if (item.kbIds.length === 0 && item.fixedReply === null) {
      cli.terminal.note("It has no knowledge base yet. Add one with: agents update --add-kb");
    }
  },
});

/** Returns the knowledge bases for an agent; undefined if the options name none. */
async function readKbIds(
  operations: BoundOperations,
  agent: Agent,
  { kb, addKb = [], removeKb = [] }: Record<"kb" | "addKb" | "removeKb", string[] | undefined>,
): Promise<string[] | undefined> {
  if (kb === undefined && addKb.length === 0 && removeKb.length === 0) return undefined;
  const removed = new Set(await kbIdsOf(operations, removeKb));
  const kept = kb === undefined ? agent.kbIds : await kbIdsOf(operations, kb);
  return [...new Set([...kept, ...(await kbIdsOf(operations, addKb))])].filter((id) => !removed.has(id));
}

const update = defineCommand({
  description: "update an agent",
  alias: "change",
  args: { "<agent>": "name or ID of the agent, as shown by agents list" },
  options: {
    ...AGENT_SETTINGS,
    noFixedReply: flag("--no-fixed-reply", "remove the fixed reply and answer from knowledge bases again"),
    name: option("--name <name>", "new name"),
    addKb: repeatable("--add-kb <name>", "knowledge base to add"),
    removeKb: repeatable("--remove-kb <name>", "knowledge base to remove"),
    addExample: repeatable("--add-example <text>", "example message to add"),
    enable: flag("--enable", "enable the agent").conflicts("disable"),
    disable: flag("--disable", "disable the agent, so that it receives no messages"),
    project: projectOption,
  },
  about: `Omitted options stay unchanged. --kb, --example, --examples and --tools replace the whole list; --add-kb and
--add-example add to it. Changes take effect within seconds.`,
  examples: [
    "agents update assistant --add-kb documents --remove-kb guide",
    'agents update billing --add-example "Where is my invoice?" --threshold 0.6',
    'agents update billing --model ollama:qwen3:8b --instructions "Answer in two sentences."',
    "agents update billing --tools tools.json",
    "agents update night --disable",
  ],
  async run(cli, input) {
    const { agent: named, name, project, addExample = [], enable, disable } = input;
    const examples = await readExamples(cli, input);
    const settings = { ...settingsOf(input), ...(await readModelSettings(cli, input)) };
    const hasExamples = examples !== undefined || addExample.length > 0;
    await showAgent(cli, project, async (operations) => {
      const agent = await getAgent(operations, named);
      const change: AgentChange = {
        ...settings,
        ...definedOnly({
          name,
          kbIds: await readKbIds(operations, agent, input),
          examples: hasExamples ? [...new Set([...(examples ?? agent.examples), ...addExample])] : undefined,
          enabled: enable === true ? true : disable === true ? false : undefined,
        }),
      };
      if (Object.keys(change).length === 0) {
        throw usageError("Specify what to update, for example --add-kb. See: svc agents update --help");
      }
      return operations.updateAgent({ id: agent.id, versions: [agent.version] }, change);
    });
  },
});

const deleteCommand = defineCommand({
  description: "delete an agent, but not its knowledge bases",
  args: AGENT,
  options: { yes: yesOption, project: projectOption },
  examples: ["agents delete billing", "agents delete billing --yes"],
  async run(cli, { agent: named, yes, project }) {
    const item = await asAdministrator(cli, project, async (operations) => {
      const agent = await getAgent(operations, named);
      const isAgreed = yes === true || (await confirm(cli, `Delete the agent "${safeLine(agent.name, 80)}"?`, "--yes"));
      return isAgreed ? operations.deleteAgent({ id: agent.id }) : null;
    });
    cli.terminal.show({ ok: item !== null, project, item }, () =>
      item === null ? "Nothing was deleted." : `Deleted the agent "${safeLine(item.name, 80)}".`,
    );
  },
});

/**
 * Time limit of an answer: an agent may call its model and its tools several times, each for up to
 * SVC_LLM_TIMEOUT_MS.
 */
const TIME_LIMIT_MS = 10 * 60_000;

interface AgentAnswer {
  agent: Agent;
  result: AgentResult;
}

/** Returns what would happen to the answer in a chat. An answer without text is held under every policy. */
async function describeOutcome(agent: Agent, { output, confidence, why }: AgentResult): Promise<string> {
  const { sendsAnswer } = await import("@svc/agents");
  const { sends, needsPerson } = sendsAnswer(agent, { text: output.text, confidence, why });
  if (!sends) return "In a chat, an operator would review it first.";
  return needsPerson === true
    ? "In a chat, it would be sent, and an operator would follow up."
    : "In a chat, it would be sent.";
}

function askService(target: ApiTarget, name: string, call: AgentCall): Promise<AgentAnswer> {
  const askAgent = async (client: Client): Promise<AgentAnswer> => {
    const agent = pickAgent(await fetchAgents(client), name);
    const answer = await client.call("executeAgent", { params: { id: agent.id }, body: call });
    const { ok: _ok, ...result } = answer;
    return { agent, result };
  };
  return withClient(target, askAgent, { timeoutMs: TIME_LIMIT_MS });
}

function askHere(cli: Cli, project: string, name: string, call: AgentCall): Promise<AgentAnswer> {
  return asAdministrator(cli, project, async (operations, { resources }) => {
    const model =
      (await resources.models.config()) === null
        ? "without a language model"
        : "with the language models of this environment";
    cli.terminal.note(
      `The service of this installation is not running; answered with the settings of this environment, ${model}.`,
    );
    const agent = await getAgent(operations, name);
    return { agent, result: await operations.executeAgent({ id: agent.id }, call) };
  });
}

const ask = defineCommand({
  description: "ask an agent without creating a ticket, and show the answer with its sources",
  args: { ...AGENT, "<text>": "the question" },
  options: {
    context: option("--context <text>", "earlier questions, one per line"),
    url: urlOption,
    project: projectOption,
  },
  about: `The running service answers, with its language model. If no service is running, the command itself runs the agent, with
the settings of this environment. Nothing is stored. The exit code is 0 even if the agent has no answer.`,
  examples: [
    'agents ask billing "Where is my invoice?"',
    'agents ask assistant "And on Windows?" --context "How do I install it?" --json',
  ],
  async run(cli, { agent: name, text, context, url, project }) {
    const call = { input: text, ...definedOnly({ context }) };
    const service = await findRunningService(cli, { url, project });
    const { agent, result } =
      service === null ? await askHere(cli, project, name, call) : await askService(service, name, call);
    const fate = await describeOutcome(agent, result);
    cli.terminal.show({ ok: true, project, agent: { id: agent.id, name: agent.name }, ...result }, () =>
      [
        result.output.text === null ? "No answer." : safeText(result.output.text),
        "",
        ...(result.sources.length === 0 ? [] : [renderSources(result.sources, cli.terminal.paint), ""]),
        cli.terminal.paint.dim(`${safeLine(result.why)} ${fate}`),
      ].join("\n"),
    );
  },
});

/** `svc agents`: agents and their settings. */
export const agents = defineCommand({
  commands: { list, show, create, update, delete: deleteCommand, ask },
});
