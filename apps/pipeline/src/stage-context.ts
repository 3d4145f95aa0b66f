import type { TriageModels } from "@svc/agents";
import type { Embeddings } from "@svc/knowledge";
import type { Log } from "@svc/log";
import type { Queues } from "@svc/queue";
import type { Store } from "@svc/store";

/** What the stages work with. */
export interface StageContext {
  store: Store;
  queues: Queues;
  log: Log;
  /** What this process has learned of each project. */
  triageModels: TriageModels;
  /** Null where no endpoint for embeddings is configured. */
  embeddings: Embeddings | null;
}
