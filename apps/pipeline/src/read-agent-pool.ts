import { createAgentPool } from "@svc/agents";
import type { AgentPool } from "@svc/agents";
import type { ProjectId, Store } from "@svc/store";
import type { ProjectSettings } from "./project-settings.ts";

/**
 * Makes the function that reads the enabled agents of all projects, with what people have decided about them, as one
 * choice. A project that is deleted meanwhile is left out.
 */
export function createPoolReader(
  store: Store,
  readSettings: (id: ProjectId) => Promise<ProjectSettings | null>,
): () => Promise<AgentPool> {
  const join = createAgentPool();
  return async () => {
    const found: ProjectSettings[] = [];
    // One after the other: an issue can wait, and customers' messages need the connections.
    for (const { id } of await store.projects.list()) {
      const settings = await readSettings(id);
      if (settings !== null) found.push(settings);
    }
    return join(found.map(({ project, agents, learned }) => ({ id: project.id, agents, learned })));
  };
}
