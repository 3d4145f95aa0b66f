import { keepTriageModels } from "@svc/agents";
import type { IncomingJob, RunningService, Service } from "@svc/contracts";
import { reindexOutdated } from "@svc/knowledge";
import type { Resources } from "@svc/runtime";
import { asProjectId } from "@svc/store";
import { createIsolation } from "./create-isolation.ts";
import { embedKnowledge } from "./embed-knowledge.ts";
import { startIngests } from "./ingest/start-ingests.ts";
import { startTicketIndex } from "./index-tickets.ts";
import { createLeaseKeeper } from "./lease-keeper.ts";
import { startPrivacySweeper } from "./privacy-sweeper.ts";
import { createSettingsReader } from "./project-settings.ts";
import { createPoolReader } from "./read-agent-pool.ts";
import { startPulls } from "./pulls/start-pulls.ts";
import { startReviews } from "./reviews/start-reviews.ts";
import { shareFairly } from "./share-fairly.ts";
import { startSweeper } from "./sweeper.ts";
import { watchLoad } from "./watch-load.ts";
import { createChatWorker } from "./work-on-chat.ts";

/** Running messages get this long at a stop; after that they are given up and tried again elsewhere. */
const STOP_DEADLINE_MS = 5_000;
/**
 * A language model takes seconds for what takes milliseconds without: with one, so many conversations are worked on at
 * once, and so many of one project.
 */
const MODEL_CONCURRENCY = 100;
const MODEL_CONCURRENCY_PER_PROJECT = 25;
/** Nobody waits long for an issue; customers' messages go first. */
const ISSUE_CONCURRENCY = 2;
/** When the oldest message of a customer or decision waits longer than this, the pipeline does not do its work. */
const WAITING_TOO_LONG_MS = 60_000;
/** Longer than any language model may take for all its tries. */
const RUN_TOO_LONG_MS = 900_000;
/** Sweeps come twice a second; a statement ends after 30 s at the latest. */
const SWEEP_TOO_LONG_MS = 90_000;

/**
 * The pipeline worker: takes incoming messages and people's decisions from their queues, runs the stages, sends the
 * replies.
 */
export function pipelineService(resources: Resources): Service {
  const { store, queues, embeddings, models, openTools, log } = resources;

  async function start(): Promise<RunningService> {
    let isStopping = false;
    const leases = createLeaseKeeper(store, log);
    const triageModels = keepTriageModels((error) => log.error({ error }, "failed to retrain triage"));
    const readSettings = createSettingsReader(store);
    const readPool = createPoolReader(store, readSettings);
    const context = { store, queues, log, readSettings, readPool, triageModels, embeddings, models, openTools };
    const isolation = createIsolation();
    const workOnChat = createChatWorker(context, leases, isolation);

    /** Consumer of `incoming-messages` and `submitted-issues`. Idempotent: a job that comes twice finds the lease taken or nothing to do. */
    const consumeIncoming = (job: IncomingJob) => workOnChat(asProjectId(job.project), job.ticketId, () => isStopping);

    const consumer =
      models === null
        ? queues.consume("incoming-messages", consumeIncoming)
        : queues.consume("incoming-messages", shareFairly(consumeIncoming, MODEL_CONCURRENCY_PER_PROJECT), {
            concurrency: MODEL_CONCURRENCY,
          });
    // Other stages, the same leases: what a job of either queue finds is worked on as what it is.
    const issues = queues.consume("submitted-issues", consumeIncoming, { concurrency: ISSUE_CONCURRENCY });
    const endWatch = watchLoad(log, {
      renewalLateMs: () => leases.renewalLateMs(),
      setShare(share) {
        consumer.setShare(share);
        issues.setShare(share);
      },
    });
    const sweeper = startSweeper(store, queues, log);
    const privacy = startPrivacySweeper({ store, queues, log });
    const reviews = startReviews(context, { leases, isolation, workOnChat });
    const ingests = startIngests(resources);
    const pulls = startPulls(resources);
    const ticketIndex = startTicketIndex(resources, { isBusy: () => leases.longestMs() > 0 });
    const draining = new AbortController();
    const reindexing = reindexOutdated({ store, log }, { signal: draining.signal }).catch((error: unknown) =>
      log.error({ error }, "failed to reindex documents of an earlier version; the next startup retries"),
    );
    const embedding =
      embeddings === null
        ? Promise.resolve()
        : embedKnowledge({ store, log, embedder: embeddings.embedder }, draining.signal);

    async function findFault(): Promise<string | null> {
      if (isStopping) return "stopping";
      const storeFault = await store.findFault();
      if (storeFault !== null) return storeFault;
      const [messageMs, decisionMs] = await Promise.all([
        store.messages.oldestWaitingMs(),
        store.reviews.oldestWaitingMs(),
      ]);
      const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`;
      if (messageMs >= WAITING_TOO_LONG_MS) return `a message has been waiting for ${seconds(messageMs)}`;
      if (decisionMs >= WAITING_TOO_LONG_MS) return `a decision has been waiting for ${seconds(decisionMs)}`;
      // What is being worked on does not wait: a run that never ends would keep its conversation for ever.
      const runMs = leases.longestMs();
      if (runMs >= RUN_TOO_LONG_MS) return `processing one message has taken ${seconds(runMs)} so far`;
      const sweepMs = sweeper.sinceRoundMs();
      return sweepMs < SWEEP_TOO_LONG_MS ? null : `the last check for waiting messages was ${seconds(sweepMs)} ago`;
    }

    // No further job is taken from the moment on in which none is worked on: a job that is taken counts as done.
    let closing: Promise<unknown> | undefined;
    let giveUpTimer: NodeJS.Timeout | undefined;
    function drain(): void {
      isStopping = true;
      reviews.drain(STOP_DEADLINE_MS);
      ingests.drain();
      pulls.drain();
      draining.abort();
      giveUpTimer ??= setTimeout(() => leases.abortAll(), STOP_DEADLINE_MS);
      closing ??= Promise.all([consumer.close(STOP_DEADLINE_MS), issues.close(STOP_DEADLINE_MS)]);
    }

    return Promise.resolve({
      findFault,
      drain,
      async stop() {
        drain();
        await sweeper.stop();
        await Promise.all([
          closing,
          reviews.stop(),
          privacy.stop(),
          ingests.stop(),
          pulls.stop(),
          ticketIndex.stop(),
          embedding,
          reindexing,
        ]);
        clearTimeout(giveUpTimer);
        leases.close();
        endWatch();
        triageModels.close();
      },
    });
  }

  return { name: "pipeline", start };
}
