import type { Principal } from "@svc/auth";
import type { Client } from "@svc/client";
import type { Agent } from "@svc/contracts";
import { listAgents } from "@svc/operations";
import type { Store } from "@svc/store";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { readAll } from "../kb/find-kb.ts";
import { safeLine } from "../safe-text.ts";

/** All agents of the principal's project, by name. */
export async function listAllAgents(store: Store, principal: Principal): Promise<Agent[]> {
  const items = await readAll((page) => listAgents({ store }, principal, page));
  return items.toSorted((one, other) => one.name.localeCompare(other.name));
}

const PAGE = 200;

/** All agents of the project that a client works on, by name, as the running service has them. */
export async function fetchAgents(client: Client): Promise<Agent[]> {
  const items: Agent[] = [];
  let cursor: string | null = null;
  do {
    const query = { limit: PAGE, ...(cursor === null ? {} : { cursor }) };
    const page: { items: Agent[]; nextCursor: string | null } = await client.call("listAgents", { query });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return items.toSorted((one, other) => one.name.localeCompare(other.name));
}

/** The agent of this name or id among those. Throws CliError `not_found`, which names those that there are. */
export function pickAgent(agents: readonly Agent[], name: string): Agent {
  const found = agents.find((agent) => agent.name === name) ?? agents.find(({ id }) => id === name.toLowerCase());
  if (found !== undefined) return found;
  const advice =
    agents.length === 0
      ? "There are no agents yet."
      : `Agents: ${agents.map((agent) => safeLine(agent.name, 80)).join(", ")}.`;
  throw new CliError("not_found", EXIT.failed, `No agent is named "${safeLine(name, 80)}". ${advice}`);
}

/** The same among all agents of the principal's project. */
export async function findAgent(store: Store, principal: Principal, name: string): Promise<Agent> {
  return pickAgent(await listAllAgents(store, principal), name);
}
