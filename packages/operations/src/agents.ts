import { HISTORY_LIMIT, answerQuestion } from "@svc/agents";
import type { HistoryMessage } from "@svc/agents";
import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { ServiceError, agentCallSchema, agentChangeSchema, agentInputSchema } from "@svc/contracts";
import type { Agent, AgentCall, AgentChange, AgentInput, AgentResult, ListInput, ListPage } from "@svc/contracts";
import { searchWithEmbeddings } from "@svc/knowledge";
import type { Embeddings } from "@svc/knowledge";
import type { AgentOutcome, Store } from "@svc/store";
import { checkInput, invalidInput } from "./check-input.ts";
import { isUuid } from "./is-uuid.ts";
import type { ExpectedVersions } from "./kbs.ts";
import { readPage } from "./list-page.ts";

const notFound = () => new ServiceError("not_found", "There is no such agent in this project.");

const nameTaken = (name: string) =>
  invalidInput([{ pointer: "/name", code: "taken", detail: `there is an agent of this name: ${name}` }], "The agent");

function staleVersion(version: number): ServiceError {
  return new ServiceError("version_conflict", `The agent has version ${version} now. Read it again.`, {
    headers: { ETag: `"${version}"` },
  });
}

async function readAgent(store: Store, { project }: Principal, id: string): Promise<Agent> {
  const agent = isUuid(id) ? await store.agents.find(project, id) : null;
  if (agent === null) throw notFound();
  return agent;
}

/** The fault that says which of these knowledge bases the project does not have. */
async function unknownKbs(store: Store, { project }: Principal, kbIds: readonly string[]): Promise<ServiceError> {
  const found = new Set((await store.kbs.findAll(project, [...kbIds])).map(({ id }) => id));
  const detail = "there is no such knowledge base in this project";
  const faults = kbIds.flatMap((id, index) =>
    found.has(id) ? [] : [{ pointer: `/kbIds/${index}`, code: "not_found", detail }],
  );
  return invalidInput(faults.length > 0 ? faults : [{ pointer: "/kbIds", code: "not_found", detail }], "The agent");
}

/** The agent as it was changed. Throws the fault that an outcome stands for. */
async function agentOf(
  store: Store,
  principal: Principal,
  { result, agent }: AgentOutcome,
  change: AgentChange,
): Promise<Agent> {
  if (result === "no_kb") throw await unknownKbs(store, principal, change.kbIds ?? []);
  if (result === "taken") throw nameTaken(change.name ?? "");
  if (agent === null) throw notFound();
  if (result === "stale") throw staleVersion(agent.version);
  return agent;
}

/**
 * A page of the agents of the principal's project, newest first. Scope agents:read. Throws invalid_request for a query
 * that is not valid.
 */
export async function listAgents(
  { store }: { store: Store },
  principal: Principal,
  input: ListInput,
): Promise<ListPage<Agent>> {
  requireScope(principal, "agents:read");
  return readPage(
    "agents",
    input,
    (query) => store.agents.listPage(principal.project, query),
    (agent) => agent,
  );
}

/** The agent with this id, in the principal's project. Scope agents:read. Throws not_found. */
export async function getAgent({ store }: { store: Store }, principal: Principal, id: string): Promise<Agent> {
  requireScope(principal, "agents:read");
  return readAgent(store, principal, id);
}

/**
 * Makes an agent in the principal's project; triage counts on it within seconds. Scope agents:write. Throws
 * invalid_request with every fault of the input, and when the project has an agent of this name or has not all of the
 * knowledge bases.
 */
export async function createAgent(
  { store }: { store: Store },
  principal: Principal,
  input: AgentInput,
): Promise<Agent> {
  requireScope(principal, "agents:write");
  const agent = checkInput(agentInputSchema, input, "The agent");
  return agentOf(store, principal, await store.agents.create(principal.project, agent), agent);
}

/**
 * Changes what the input names, if the agent has one of the expected versions; messages that come seconds later find it
 * changed. Scope agents:write. Throws not_found, version_conflict with the present `ETag`, and invalid_request with every
 * fault of the input, as `createAgent` does.
 */
export async function updateAgent(
  { store }: { store: Store },
  principal: Principal,
  id: string,
  input: AgentChange,
  versions: ExpectedVersions = null,
): Promise<Agent> {
  requireScope(principal, "agents:write");
  const change = checkInput(agentChangeSchema, input, "The agent");
  const before = await readAgent(store, principal, id);
  const outcome = await store.agents.update(principal.project, before.id, change, versions);
  return agentOf(store, principal, outcome, change);
}

/**
 * Deletes an agent, if it has one of the expected versions, and answers it as it was. Its knowledge bases stay, and so
 * does what it has answered; its chats go to another agent with their next message. Scope agents:write. Throws
 * not_found, and version_conflict with the present `ETag`.
 */
export async function deleteAgent(
  { store }: { store: Store },
  principal: Principal,
  id: string,
  versions: ExpectedVersions = null,
): Promise<Agent> {
  requireScope(principal, "agents:write");
  const agent = await readAgent(store, principal, id);
  if (!(await store.agents.remove(principal.project, agent.id, versions))) {
    throw staleVersion((await readAgent(store, principal, id)).version);
  }
  return agent;
}

/** What was said before, one question a line. */
function historyOf(context: string): HistoryMessage[] {
  const lines = context.split("\n").filter((line) => line.trim() !== "");
  return lines.slice(-HISTORY_LIMIT).map((text) => ({ author: "customer", text }));
}

/**
 * Asks an agent, also one that is switched off, without a chat: nothing is kept, no ticket is made and no review is
 * asked for. Scope agents:execute. Throws not_found, and invalid_request with every fault of the input.
 */
export async function executeAgent(
  { store, embeddings }: { store: Store; embeddings: Embeddings | null },
  principal: Principal,
  id: string,
  call: AgentCall,
): Promise<AgentResult> {
  requireScope(principal, "agents:execute");
  const { input, context = "" } = checkInput(agentCallSchema, call, "The call");
  const agent = await readAgent(store, principal, id);
  const startedAt = performance.now();
  const { text, markdown, sources, confidence, why } = await answerQuestion({
    agent,
    text: input,
    history: historyOf(context),
    search: (query, kbIds, limit) =>
      searchWithEmbeddings({ store, embeddings }, principal.project, { query, kbIds, limit }),
  });
  return {
    output: { text, markdown },
    sources,
    confidence,
    why,
    // Answers are quotes: no language model is asked.
    usage: { model: null, inputTokens: 0, outputTokens: 0 },
    durationMs: Math.round(performance.now() - startedAt),
  };
}
