import { queryOptions } from "@tanstack/react-query";
import { ServiceError } from "@svc/client";
import type { Agent, AgentChange, Model } from "@svc/contracts";
import type { Texts } from "../i18n/texts.ts";
import type { Connection } from "./connection.ts";

const STALE_MS = 60_000;
/** Maximum page size of the server. */
const LIMIT = 200;

/** The agents of a project, for names and choices. */
export const agentsQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["agents", project],
    staleTime: STALE_MS,
    queryFn: async ({ signal }): Promise<Agent[]> =>
      (await connection.call("listAgents", project, { query: { limit: LIMIT }, signal })).items,
  });

/** Name of the agent that the setup creates, an identifier. */
const FIRST_AGENT = "assistant";

/** Returns the displayed name of an agent: its own, or a word for the one that the setup created. */
export const agentTitle = (name: string, t: Texts["t"]): string => (name === FIRST_AGENT ? t("agent.first") : name);

/** One agent. Throws not_found if it was deleted. */
export const agentQuery = (connection: Connection, project: string, id: string) =>
  queryOptions({
    queryKey: ["agent", project, id],
    queryFn: async ({ signal }): Promise<Agent> =>
      (await connection.call("getAgent", project, { params: { id }, signal })).item,
    retry: (count, error) => !(error instanceof ServiceError && error.status === 404) && count < 3,
  });

/** Changes an agent if it still has this version. Throws version_conflict otherwise. */
export async function changeAgent(
  connection: Connection,
  { project, id, version }: { project: string; id: string; version: number },
  change: AgentChange,
): Promise<Agent> {
  return (await connection.call("updateAgent", project, { params: { id }, body: change, ifMatch: version })).item;
}

/** The language models for agents, available ones first. */
export const modelsQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["models", project],
    staleTime: STALE_MS,
    queryFn: async ({ signal }): Promise<Model[]> =>
      (await connection.call("listModels", project, { query: { limit: LIMIT }, signal })).items,
  });
