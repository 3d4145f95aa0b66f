import { DEFAULT_AUTO_THRESHOLD } from "@svc/contracts";
import type { Agent, AgentChange, KbItem } from "@svc/contracts";
import { useRef } from "react";
import { agentsQuery, changeAgent } from "../api/administration.ts";
import { INSTALLED_KBS, kbsQuery, ownKb } from "../api/knowledge.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject } from "../session/services.ts";

/** Description of the first agent while it answers only from the service's own guide. */
const GUIDE_DESCRIPTION = "Answers questions about this service from its guide.";
/** Threshold of the first agent while it answers from the guide (ADR 0067). */
const GUIDE_THRESHOLD = 0.5;

/**
 * Returns the change with which an agent answers from the project's own documents. An agent that used only the
 * service's own guide no longer uses it: a shop's customers should not read how to operate this service.
 */
export function assignOwnKb(agent: Agent, kbId: string, kbs: readonly KbItem[]): AgentChange {
  const guides = new Set(kbs.flatMap(({ id, name }) => (INSTALLED_KBS.includes(name) ? [id] : [])));
  if (agent.kbIds.length === 0 || !agent.kbIds.every((id) => guides.has(id))) return { kbIds: [...agent.kbIds, kbId] };
  return {
    kbIds: [kbId],
    ...(agent.description === GUIDE_DESCRIPTION ? { description: "" } : {}),
    ...(agent.autoThreshold === GUIDE_THRESHOLD ? { autoThreshold: DEFAULT_AUTO_THRESHOLD } : {}),
  };
}

/** The agent that is created if there is none. */
const NEW_AGENT = { name: "assistant", reviewPolicy: "auto_if", autoThreshold: DEFAULT_AUTO_THRESHOLD } as const;

/**
 * Returns a function that finds or creates the knowledge base for the project's own documents, and lets an agent answer
 * from it: the given one, otherwise any.
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
        const target = { project, id: agent.id, version: agent.version };
        const change = assignOwnKb(agent, id, kbs);
        await changeAgent(connection, target, change);
        if (change.kbIds?.length === 1 && agent.kbIds.length > 0) {
          toasts.show({ kind: "done", text: t("firstRun.guideLeft", { agent: agent.name }) });
        }
      }
      void queryClient.invalidateQueries({ queryKey: ["agents", project] });
    }
    return id;
  }
  return (agentId) => {
    // Files that are uploaded together go into one knowledge base.
    pending.current ??= find(agentId).finally(() => {
      pending.current = null;
    });
    return pending.current;
  };
}
