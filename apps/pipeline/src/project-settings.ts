import { createAgentPool } from "@svc/agents";
import type { AgentPool, LearnedMessage } from "@svc/agents";
import type { Agent } from "@svc/contracts";
import { createBriefCache } from "@svc/store";
import type { Project, ProjectId, Store } from "@svc/store";

/** What the stages need to know of a project. */
export interface ProjectSettings {
  project: Project;
  agents: Agent[];
  /** Messages that people have decided; the same array as long as it has not changed. */
  learned: LearnedMessage[];
}

/** A change of a project, its agents or what was decided takes effect within this time. */
const SETTINGS_MS = 1_000;

/** Projects whose agents are kept while nothing changes; with 15,000 examples that is some megabytes each. */
const MAX_PROJECTS = 100;

/** A list, and the mark by which it is known to be unchanged. */
interface Marked<Item> {
  mark: string;
  items: Item[];
}

/**
 * Creates the function that reads a project's settings: at most once a second, and examples and decided messages only
 * when they have changed. Null if the project no longer exists.
 */
export function createSettingsReader(store: Store): (id: ProjectId) => Promise<ProjectSettings | null> {
  const brief = createBriefCache<ProjectSettings>(SETTINGS_MS);
  const agents = keepMarked<Agent>(
    (id) => store.agents.findMark(id),
    (id) => store.agents.list(id),
  );
  const learned = keepMarked<LearnedMessage>(
    (id) => store.triageMessages.findMark(id),
    (id) => store.triageMessages.list(id),
  );
  return (id) =>
    brief.get(id, async () => {
      const [project, ofAgents, ofPeople] = await Promise.all([store.projects.find(id), agents(id), learned(id)]);
      return project === null ? null : { project, agents: ofAgents, learned: ofPeople };
    });
}

/** Reads a project's list again only if its mark has changed; the mark is read first, so that no change is missed. */
function keepMarked<Item>(
  findMark: (id: ProjectId) => Promise<string>,
  list: (id: ProjectId) => Promise<Item[]>,
): (id: ProjectId) => Promise<Item[]> {
  const kept = new Map<ProjectId, Marked<Item>>();
  return async (id) => {
    const mark = await findMark(id);
    const known = kept.get(id);
    const now = known?.mark === mark ? known : { mark, items: await list(id) };
    // The one used last comes last, and the first one goes.
    kept.delete(id);
    kept.set(id, now);
    const [oldest] = kept.keys();
    if (kept.size > MAX_PROJECTS && oldest !== undefined) kept.delete(oldest);
    return now.items;
  };
}

/**
 * Creates the function that reads the enabled agents of all projects, with what people have decided about them, as one
 * choice. A project that is deleted meanwhile is skipped.
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
