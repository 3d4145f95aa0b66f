import {
  HISTORY_LIMIT,
  NO_CONVERSATION,
  answerQuestion,
  findSchemaProblem,
  offerTools,
  openHeaders,
  handleReadOnlyCalls,
} from "@svc/agents";
import type { HistoryMessage, LanguageModels, ToolOpener } from "@svc/agents";
import type { Principal } from "@svc/auth";
import {
  MASKED_SECRET,
  agentCallSchema,
  agentChangeSchema,
  agentInputSchema,
  checkInput,
  invalidInput,
  parseUrl,
} from "@svc/contracts";
import type { Agent, AgentChange, AgentResult, AgentTool, FieldError, Sealed, ServiceError } from "@svc/contracts";
import { searchKnowledge } from "@svc/knowledge";
import type { Embeddings } from "@svc/knowledge";
import type { AddressGuard } from "@svc/outbound";
import type { AgentOutcome, Sealer, Store, StoredTool } from "@svc/store";
import { nameTaken, readPage, staleVersion, operation, objectReader, notInProject } from "./operation.ts";

/** Dependencies of creating and updating agents. */
interface AgentDeps {
  store: Store;
  /** Rejects forbidden addresses of tools immediately; the calls themselves are always guarded. */
  fetchGuard?: Pick<AddressGuard, "checkUrl">;
}

const originOf = (url: string) => parseUrl(url.replaceAll(/\{[^{}]*\}/g, "x"))?.origin ?? null;

/** Returns the stored secret for a mask: that of the same header of the same tool, if it goes to the same host. */
function presentSecret(tool: AgentTool, header: string, present: readonly StoredTool[]): Sealed | null {
  const before = present.find(({ type, name }) => type === tool.type && name === tool.name);
  if (before === undefined || originOf(before.url) !== originOf(tool.url)) return null;
  const known = Object.entries(before.headers).find(([name]) => name.toLowerCase() === header.toLowerCase());
  return known?.[1] ?? null;
}

const pointerPart = (name: string) => name.replaceAll("~", "~0").replaceAll("/", "~1");

function sealHeaders(
  tool: AgentTool,
  at: string,
  { sealer, present, faults: errors }: { sealer: Sealer; present: readonly StoredTool[]; faults: FieldError[] },
): StoredTool {
  const headers: Record<string, Sealed> = {};
  for (const [name, value] of Object.entries(tool.headers)) {
    const sealed = value === MASKED_SECRET ? presentSecret(tool, name, present) : sealer.seal(value);
    if (sealed === null) {
      const detail = "refers to a stored secret that this tool does not have for this host; send the value itself";
      errors.push({ pointer: `${at}/headers/${pointerPart(name)}`, code: "no_secret", detail });
    } else headers[name] = sealed;
  }
  return { ...tool, headers };
}

/**
 * Seals the header values of an agent's tools; a mask stands for the stored secret. Throws invalid_request with every
 * error: forbidden addresses, invalid schemas, masks without a secret.
 */
async function sealTools(
  { store, fetchGuard }: AgentDeps,
  given: readonly AgentTool[],
  present: readonly StoredTool[],
): Promise<StoredTool[]> {
  const errors: FieldError[] = [];
  const sealed: StoredTool[] = [];
  for (const [index, tool] of given.entries()) {
    const at = `/tools/${index}`;
    const check = fetchGuard?.checkUrl(tool.url.replaceAll(/\{[^{}]*\}/g, "x"));
    if (check?.ok === false) errors.push({ pointer: `${at}/url`, code: "blocked_address", detail: check.reason });
    const schemaProblem = tool.type === "http" ? await findSchemaProblem(tool.parameters) : null;
    if (schemaProblem !== null) errors.push({ pointer: `${at}/parameters`, code: "invalid", detail: schemaProblem });
    sealed.push(sealHeaders(tool, at, { sealer: store.sealer, present, faults: errors }));
  }
  if (errors.length > 0) throw invalidInput(errors, "The agent");
  return sealed;
}

/** Returns the agent with this id in the principal's project. Throws not_found. */
export const readAgent = objectReader("agent", ({ agents }) => agents.find);

const NO_KB = { code: "not_found", detail: "is not the ID of a knowledge base in this project" };

/**
 * Returns errors for those of these knowledge bases that are not in the project; `at` is the pointer of the agent's
 * fields.
 */
export async function errorsOfKbs(
  store: Store,
  { project }: Principal,
  kbIds: readonly string[],
  at = "",
): Promise<FieldError[]> {
  const found = new Set((await store.kbs.findAll(project, [...kbIds])).map(({ id }) => id));
  return kbIds.flatMap((id, index) => (found.has(id) ? [] : [{ pointer: `${at}/kbIds/${index}`, ...NO_KB }]));
}

/** Returns the error that lists the knowledge bases that are not in the project. */
async function unknownKbs(store: Store, principal: Principal, kbIds: readonly string[]): Promise<ServiceError> {
  const errors = await errorsOfKbs(store, principal, kbIds);
  return invalidInput(errors.length > 0 ? errors : [{ pointer: "/kbIds", ...NO_KB }], "The agent");
}

/** Returns the changed agent. Throws the error of an outcome. */
async function agentOf(
  store: Store,
  principal: Principal,
  { result, agent }: AgentOutcome,
  change: AgentChange,
): Promise<Agent> {
  if (result === "no_kb") throw await unknownKbs(store, principal, change.kbIds ?? []);
  if (result === "taken") throw nameTaken("agent", change.name ?? "");
  if (agent === null) throw notInProject("agent");
  if (result === "stale") throw staleVersion("The agent", agent.version);
  return agent;
}

/** Returns a page of the agents of the principal's project, newest first. */
export const listAgents = operation("listAgents", async ({ store }, principal, input) => {
  return readPage("agents", input, { read: (query) => store.agents.listPage(principal.project, query) });
});

/** Returns the agent with this id in the principal's project. */
export const getAgent = operation("getAgent", async ({ store }, principal, id) => {
  return readAgent(store, principal, id);
});

/**
 * Creates an agent in the principal's project; triage uses it within seconds. Throws invalid_request if the project has
 * an agent of this name or lacks one of the knowledge bases.
 */
export const createAgent = operation(
  "createAgent",
  async (deps: AgentDeps, principal, input) => {
    const { store } = deps;
    const agent = checkInput(agentInputSchema, input, "The agent");
    const tools = await sealTools(deps, agent.tools ?? [], []);
    return agentOf(store, principal, await store.agents.create(principal.project, { ...agent, tools }), agent);
  },
  { audit: "agents.create" },
);

/**
 * Changes the given fields if the agent has one of the expected versions; messages use the change within seconds.
 * Throws invalid_request with every error of the input, like `createAgent`.
 */
export const updateAgent = operation(
  "updateAgent",
  async (deps: AgentDeps, principal, { id, versions = null }, input) => {
    const { store } = deps;
    const { tools: given, ...change } = checkInput(agentChangeSchema, input, "The agent");
    const before = await readAgent(store, principal, id);
    if (given === undefined) {
      return agentOf(
        store,
        principal,
        await store.agents.update(principal.project, { id: before.id, versions }, change),
        change,
      );
    }
    const tools = await sealTools(deps, given, await store.agents.readTools(principal.project, before.id));
    // Secrets were copied from the tools that were read: a concurrent change must not be undone.
    const expected = versions ?? [before.version];
    const outcome = await store.agents.update(
      principal.project,
      { id: before.id, versions: expected },
      { ...change, tools },
    );
    return agentOf(store, principal, outcome, change);
  },
  { audit: "agents.update" },
);

/**
 * Deletes an agent if it has one of the expected versions, and returns it. Its knowledge bases and answers are kept;
 * its chats go to another agent with their next message.
 */
export const deleteAgent = operation(
  "deleteAgent",
  async ({ store }, principal, { id, versions = null }) => {
    const agent = await readAgent(store, principal, id);
    if (!(await store.agents.remove(principal.project, { id: agent.id, versions }))) {
      throw staleVersion("The agent", (await readAgent(store, principal, id)).version);
    }
    return agent;
  },
  { audit: "agents.delete" },
);

/** Returns the earlier messages, one question per line. */
function historyOf(context: string): HistoryMessage[] {
  const lines = context.split("\n").filter((line) => line.trim() !== "");
  return lines.slice(-HISTORY_LIMIT).map((text) => ({ author: "customer", text }));
}

/** Dependencies of asking an agent. */
export interface ExecuteDeps {
  store: Store;
  embeddings: Embeddings | null;
  models: LanguageModels | null;
  /** Returns the callable tools of the agent; without it, no tools are called. */
  openTools?: ToolOpener;
}

/** Asks an agent without a chat, also a disabled one: nothing is stored, and no ticket or review is created. */
export const executeAgent = operation(
  "executeAgent",
  async (
    { store, embeddings, models, openTools }: ExecuteDeps,
    principal,
    { id, signal = new AbortController().signal },
    call,
  ): Promise<AgentResult> => {
    const { input, context = "" } = checkInput(agentCallSchema, call, "The call");
    const agent = await readAgent(store, principal, id);
    const startedAt = performance.now();
    const model = (await models?.forAgent(agent)) ?? null;
    // Nothing may be changed without a ticket that shows it to people.
    const callable =
      model === null || openTools === undefined || agent.tools.length === 0
        ? []
        : await openTools(openHeaders(await store.agents.readTools(principal.project, agent.id), store.sealer));
    const tools = offerTools(callable, handleReadOnlyCalls, { customer: NO_CONVERSATION, onRefused: () => undefined });
    const answer = await answerQuestion({
      agent,
      text: input,
      history: historyOf(context),
      search: (query, kbIds, limit) =>
        searchKnowledge({ store, embeddings }, principal.project, { query, kbIds, limit }),
      model: model === null ? null : { model, project: principal.project, ticketId: null, signal, tools },
    });
    const { markdown, sources, confidence, why } = answer;
    // A draft that needs a review is not an answer here, because it will not be reviewed.
    const isHeld = answer.model?.mustReview === true || (answer.needsPerson === true && agent.fixedReply === null);
    const text = isHeld ? null : answer.text;
    const { model: asked = null, inputTokens = 0, outputTokens = 0 } = answer.model?.usage ?? {};
    return {
      output: { text, markdown },
      sources,
      confidence,
      why,
      usage: { model: asked, inputTokens, outputTokens },
      durationMs: Math.round(performance.now() - startedAt),
    };
  },
  { audit: "agents.execute" },
);
