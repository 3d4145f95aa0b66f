import { createAgentPool } from "@svc/agents";
import type { AgentPool, LearnedMessage } from "@svc/agents";
import type { Agent } from "@svc/contracts";
import { createBriefCache } from "@svc/store";
import type { Project, ProjectId, Store } from "@svc/store";

/** Settings of a project that the stages read. */
export interface ProjectSettings {
  project: Project;
  agents: Agent[];
  /** Messages that people have decided; the same array while it has not changed. */
  learned: LearnedMessage[];
}

/** A change of a project, its agents or decided messages takes effect within this time. */
const SETTINGS_MS = 1_000;

/** Maximum number of projects in the cache; one with 15,000 examples takes several megabytes. */
const MAX_PROJECTS = 100;

/** A list, and the version by which it is known to be unchanged. */
interface Versioned<Item> {
  mark: string;
  items: Item[];
}

/**
 * Creates the function that reads a project's settings: at most once a second, and examples and decided messages only
 * when they have changed. Null if the project no longer exists.
 */
export function createSettingsReader(store: Store): (id: ProjectId) => Promise<ProjectSettings | null> {
  const brief = createBriefCache<ProjectSettings>(SETTINGS_MS);
  const agents = cacheByVersion<Agent>(
    (id) => store.agents.findMark(id),
    (id) => store.agents.list(id),
  );
  const learned = cacheByVersion<LearnedMessage>(
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
function cacheByVersion<Item>(
  findMark: (id: ProjectId) => Promise<string>,
  list: (id: ProjectId) => Promise<Item[]>,
): (id: ProjectId) => Promise<Item[]> {
  const cache = new Map<ProjectId, Versioned<Item>>();
  return async (id) => {
    const mark = await findMark(id);
    const known = cache.get(id);
    const now = known?.mark === mark ? known : { mark, items: await list(id) };
    // Moves it to the end of the cache; the least recently used entry is evicted.
    cache.delete(id);
    cache.set(id, now);
    const [oldest] = cache.keys();
    if (cache.size > MAX_PROJECTS && oldest !== undefined) cache.delete(oldest);
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
