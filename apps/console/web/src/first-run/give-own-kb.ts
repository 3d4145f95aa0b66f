import type { Agent, AgentChange, KbItem } from "@svc/contracts";
import { GUIDE_KB } from "../knowledge/own-kb.ts";

/** What the first agent is said to do as long as it answers from the service's own guide alone. */
const GUIDE_DESCRIPTION = "Answers questions about this service from its guide.";

/**
 * What lets an agent answer from one's own documents. One that answered from nothing but the service's own guide does so no
 * more: who asks about a shop should not read how this service is run.
 */
export function giveOwnKb(agent: Agent, kbId: string, kbs: readonly KbItem[]): AgentChange {
  const guides = new Set(kbs.flatMap(({ id, name }) => (name === GUIDE_KB ? [id] : [])));
  if (agent.kbIds.length === 0 || !agent.kbIds.every((id) => guides.has(id))) return { kbIds: [...agent.kbIds, kbId] };
  return { kbIds: [kbId], ...(agent.description === GUIDE_DESCRIPTION ? { description: "" } : {}) };
}
