import { SEARCH_LIMIT, questionOf } from "@svc/agents";
import { searchWithEmbeddings } from "@svc/knowledge";
import { chosenAgent, move } from "../run.ts";
import type { Run, StageContext } from "../run.ts";

/** Finds passages in the agent's knowledge bases. The result is stored between attempts. */
export async function retrieve({ store, embeddings }: StageContext, run: Run): Promise<void> {
  const agent = chosenAgent(run);
  if (agent === null) return;
  move(run, "retrieval", run.triage?.why ?? "");
  if (run.passages !== null || agent.fixedReply !== null || agent.kbIds.length === 0) return;
  run.passages = await searchWithEmbeddings({ store, embeddings }, run.project.id, {
    query: questionOf(run.message.text),
    kbIds: agent.kbIds,
    limit: SEARCH_LIMIT,
  });
}
