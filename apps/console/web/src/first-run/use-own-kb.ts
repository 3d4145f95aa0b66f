import { useRef } from "react";
import { agentsQuery, changeAgent } from "../api/agents.ts";
import { kbsQuery } from "../api/kb.ts";
import { useServices } from "../app/services.ts";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { ownKb } from "../knowledge/own-kb.ts";
import { giveOwnKb } from "./give-own-kb.ts";

/** The agent that is made where there is none. */
const NEW_AGENT = { name: "assistant", reviewPolicy: "auto_if", autoThreshold: 0.5 } as const;

/**
 * Returns a function that finds the knowledge base for the project's own documents, or creates it, and lets an agent
 * answer from it: the given one, or else any.
 */
export function useOwnKb(): (agentId?: string) => Promise<string> {
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const { t } = useTexts();
  const pending = useRef<Promise<string> | null>(null);
  async function find(agentId: string | undefined): Promise<string> {
    const kbs = await queryClient.fetchQuery({ ...kbsQuery(connection, project), staleTime: 0 });
    const agents = await queryClient.fetchQuery({ ...agentsQuery(connection, project), staleTime: 0 });
    const takers = agents.filter(({ enabled, id }) => enabled && (agentId === undefined || id === agentId));
    const given = agentId === undefined ? [] : kbs.filter(({ id }) => takers.some(({ kbIds }) => kbIds.includes(id)));
    const known = ownKb(given) ?? ownKb(kbs);
    const body = { name: t("firstRun.kbName") };
    const { id } = known ?? (await connection.call("createKb", project, { body })).item;
    if (!takers.some(({ kbIds }) => kbIds.includes(id))) {
      const [agent] = takers;
      if (agent === undefined) {
        await connection.call("createAgent", project, { body: { ...NEW_AGENT, kbIds: [id] } });
      } else {
        const place = { project, id: agent.id, version: agent.version };
        const change = giveOwnKb(agent, id, kbs);
        await changeAgent(connection, place, change);
        if (change.kbIds?.length === 1 && agent.kbIds.length > 0) {
          toasts.show({ kind: "done", text: t("firstRun.guideLeft", { agent: agent.name }) });
        }
      }
      void queryClient.invalidateQueries({ queryKey: ["agents", project] });
    }
    return id;
  }
  return (agentId) => {
    // Files that are sent at once go into one base.
    pending.current ??= find(agentId).finally(() => {
      pending.current = null;
    });
    return pending.current;
  };
}
