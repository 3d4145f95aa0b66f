import type { AgentPool, LanguageModels, ToolOpener, TriageModels } from "@svc/agents";
import type { Embeddings } from "@svc/knowledge";
import type { Log } from "@svc/log";
import type { Queues } from "@svc/queue";
import type { ProjectId, Store } from "@svc/store";
import type { ProjectSettings } from "./project-settings.ts";

/** What the stages work with. */
export interface StageContext {
  store: Store;
  queues: Queues;
  log: Log;
  /** Settings of a project, some moments old at most; null when it no longer exists. */
  readSettings: (id: ProjectId) => Promise<ProjectSettings | null>;
  /** The enabled agents of all projects, some moments old at most. */
  readPool: () => Promise<AgentPool>;
  /** What this process has learned of each project. */
  triageModels: TriageModels;
  /** Null where no endpoint for embeddings is configured. */
  embeddings: Embeddings | null;
  /** Null where no server with language models is configured. */
  models: LanguageModels | null;
  /** Finds what an agent can call. */
  openTools: ToolOpener;
}
