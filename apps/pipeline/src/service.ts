import { keepTriageModels } from "@svc/agents";
import type { IncomingJob, RunningService, Service } from "@svc/contracts";
import { reindexOutdated } from "@svc/knowledge";
import type { Resources } from "@svc/runtime";
import { asProjectId } from "@svc/store";
import { embedKnowledge } from "./embed-knowledge.ts";
import { startIngests } from "./ingest/start-ingests.ts";
import { createLeaseKeeper } from "./lease-keeper.ts";
import { startSweeper } from "./sweeper.ts";
import { createChatWorker } from "./work-on-chat.ts";

/** Running messages get this long at a stop; after that they are given up and tried again elsewhere. */
const STOP_DEADLINE_MS = 5_000;
/** When the oldest message waits longer than this, this replica does not do its work. */
const WAITING_TOO_LONG_MS = 60_000;

/** The pipeline worker: takes incoming messages from their queue, runs the stages, sends the replies. */
export function pipelineService(resources: Resources): Service {
  const { store, queues, embeddings, log } = resources;

  async function start(): Promise<RunningService> {
    let isStopping = false;
    const leases = createLeaseKeeper(store, log);
    const triageModels = keepTriageModels((error) => log.error({ error }, "triage could not be trained anew"));
    const workOnChat = createChatWorker({ store, queues, log, triageModels, embeddings }, leases);

    /** Consumer of `incoming-messages`. Idempotent: a job that comes twice finds the lease taken or nothing to do. */
    const consumeIncoming = (job: IncomingJob) => workOnChat(asProjectId(job.project), job.ticketId, () => isStopping);

    const consumer = queues.consume("incoming-messages", consumeIncoming);
    const sweeper = startSweeper(store, queues, log);
    const ingests = startIngests(resources);
    const draining = new AbortController();
    const reindexing = reindexOutdated({ store, log }, { signal: draining.signal }).catch((error: unknown) =>
      log.error({ error }, "documents of an earlier version could not be indexed anew; the next start tries again"),
    );
    const embedding =
      embeddings === null
        ? Promise.resolve()
        : embedKnowledge({ store, log, embedder: embeddings.embedder }, draining.signal);

    async function findFault(): Promise<string | null> {
      if (isStopping) return "stopping";
      if (!(await store.ping())) return "PostgreSQL cannot be reached";
      const waitingMs = await store.messages.oldestWaitingMs();
      return waitingMs < WAITING_TOO_LONG_MS ? null : `a message has waited for ${Math.round(waitingMs / 1000)} s`;
    }

    // No further job is taken from the moment on in which none is worked on: a job that is taken counts as done.
    let closing: Promise<void> | undefined;
    let giveUpTimer: NodeJS.Timeout | undefined;
    function drain(): void {
      isStopping = true;
      ingests.drain();
      draining.abort();
      giveUpTimer ??= setTimeout(() => leases.abortAll(), STOP_DEADLINE_MS);
      closing ??= consumer.close(STOP_DEADLINE_MS);
    }

    return Promise.resolve({
      findFault,
      drain,
      async stop() {
        drain();
        await sweeper.stop();
        await Promise.all([closing, ingests.stop(), embedding, reindexing]);
        clearTimeout(giveUpTimer);
        leases.close();
        triageModels.close();
      },
    });
  }

  return { name: "pipeline", start };
}
