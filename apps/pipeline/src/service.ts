import { monitorEventLoopDelay } from "node:perf_hooks";
import { createTalkRecognizer, openTriageModels } from "@svc/agents";
import type { RunningService, Service } from "@svc/contracts";
import { createFileReader, createPageFetcher, reindexOutdated } from "@svc/knowledge";
import type { Log } from "@svc/log";
import { sendPush } from "@svc/outbound";
import type { PushSender } from "@svc/outbound";
import { createFetchGuard, readPushSender } from "@svc/runtime";
import type { Resources } from "@svc/runtime";
import type { Work } from "@svc/work";
import type { EmailContext } from "./email/email-context.ts";
import { sendEmails } from "./email/send-emails.ts";
import { embedKnowledge } from "./embed-knowledge.ts";
import { startTicketIndex } from "./index-tickets.ts";
import { ingestDocuments } from "./ingest/ingest-documents.ts";
import { createIsolation } from "./isolation.ts";
import { startPrivacySweeper } from "./privacy-sweeper.ts";
import { createChatLeases, processMessages } from "./process-messages.ts";
import type { Chat, ChatLeases } from "./process-messages.ts";
import { processReviews } from "./process-reviews.ts";
import { createPoolReader, createSettingsReader } from "./run.ts";
import { pullModels } from "./pull-models.ts";

/** Age of the oldest waiting message or decision from which the pipeline counts as not working. */
const WAITING_TOO_LONG_MS = 60_000;
/** Longer than any language model may take for all its attempts. */
const RUN_TOO_LONG_MS = 900_000;
/** Sweeps come twice a second; a statement ends after 30 s at the latest. */
const SWEEP_TOO_LONG_MS = 90_000;
/** Longer than the pauses between the messages of a steady load. */
const QUIET_MS = 500;

const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`;

/** Returns the function that sends push notifications with the keys of the installation, which are read once. */
function openPush({ config, store }: Resources): EmailContext["push"] {
  const guard = createFetchGuard(config);
  let sender: Promise<PushSender> | null = null;
  return async (notification) => {
    sender ??= readPushSender(store, config);
    // The next call retries: the store may have recovered.
    const known = await sender.catch((error: unknown) => {
      sender = null;
      throw error;
    });
    await sendPush(guard, known, notification);
  };
}

/** The pipeline worker: consumes incoming messages and operators' decisions, runs the stages and sends the replies. */
export function pipelineService(resources: Resources): Service {
  const { config, store, queues, embeddings, log } = resources;

  async function start(): Promise<RunningService> {
    const leases = createChatLeases(resources);
    const isolation = createIsolation();
    const triageModels = openTriageModels((error) => log.error({ error }, "failed to retrain triage"));
    const readSettings = createSettingsReader(store);
    const readPool = createPoolReader(store, readSettings);
    const talk =
      embeddings === null
        ? null
        : createTalkRecognizer(embeddings.embedder, (error) =>
            log.warn({ error }, "failed to embed examples of small talk; it is recognized by its phrases only"),
          );
    const context = { ...resources, readSettings, readPool, triageModels, talk };
    const [reader, fetcher] = [createFileReader(), createPageFetcher({ guard: createFetchGuard(config) })];

    const messages = await processMessages(context, { leases, isolation });
    const works = [
      messages,
      processReviews(context, { leases, isolation, messages }),
      ingestDocuments({ store, queues, log, reader, fetcher }),
      pullModels(resources),
      sendEmails({ ...resources, push: openPush(resources) }),
    ];
    for (const work of works) work.start();
    const endWatch = watchLoad(log, leases, (share) => messages.setShare(share));
    const privacy = startPrivacySweeper({ store, queues, log });
    const ticketIndex = startTicketIndex(resources, { isBusy: () => leases.idleMs() < QUIET_MS, isolation });
    const draining = new AbortController();
    const reindexing = reindexOutdated({ store, log }, { signal: draining.signal }).catch((error: unknown) =>
      log.error({ error }, "failed to reindex documents of an earlier version; the next startup retries"),
    );
    const embedding =
      embeddings === null
        ? Promise.resolve()
        : embedKnowledge({ store, log, embedder: embeddings.embedder }, draining.signal);

    // No new job is accepted once none is running: a job that was accepted counts as done.
    function drain(): void {
      draining.abort();
      for (const work of works) work.drain();
    }

    return Promise.resolve({
      findProblem: async () => (draining.signal.aborted ? "stopping" : findProblem(resources, messages, leases)),
      drain,
      async stop() {
        drain();
        await Promise.all([
          ...works.map((work) => work.stop()),
          privacy.stop(),
          ticketIndex.stop(),
          embedding,
          reindexing,
        ]);
        await Promise.all([reader.close(), fetcher.close()]);
        endWatch();
        triageModels.close();
      },
    });
  }

  return { name: "pipeline", start };
}

/** Returns what prevents this process from working, in words; null if nothing does. */
async function findProblem({ store }: Resources, messages: Work<Chat>, leases: ChatLeases): Promise<string | null> {
  const storeError = await store.findProblem();
  if (storeError !== null) return storeError;
  const [messageMs, decisionMs] = await Promise.all([
    store.messages.oldestWaitingMs(),
    store.reviews.oldestWaitingMs(),
  ]);
  if (messageMs >= WAITING_TOO_LONG_MS) return `a message has been waiting for ${seconds(messageMs)}`;
  if (decisionMs >= WAITING_TOO_LONG_MS) return `a decision has been waiting for ${seconds(decisionMs)}`;
  // A message in progress does not wait: a run that never ends would block its conversation.
  const runMs = leases.longestMs();
  if (runMs >= RUN_TOO_LONG_MS) return `processing one message has taken ${seconds(runMs)} so far`;
  const sweepMs = messages.sinceSweepMs();
  return sweepMs < SWEEP_TOO_LONG_MS ? null : `the last check for waiting messages was ${seconds(sweepMs)} ago`;
}

const CHECK_MS = 1_000;
/**
 * Delay of the event loop, or of the renewal of leases, from which a process counts as overloaded: a quarter of the
 * lease duration.
 */
const LATE_MS = 1_000;
/** Interval of the timer that measures delays: its resolution, a small part of the threshold. */
const RESOLUTION_MS = 100;
/** Checks in a row without a delay after which a process takes more jobs again. */
const CHECKS_WITHOUT_DELAY = 5;
/** Smallest share of its jobs that a process works on. */
const SHARE_MIN = 1 / 16;

/** Load of a process. */
export interface Load {
  /** The share of its jobs that it works on at once, between 1/16 and 1. */
  share: number;
  /** Checks without a delay since the share last changed. */
  checksWithoutDelay: number;
}

/**
 * Returns the load after another check: half the share if the event loop or the renewal of leases was late, twice the share
 * after five checks without a delay.
 */
export function nextLoad({ share, checksWithoutDelay }: Load, lateMs: number): Load {
  if (lateMs >= LATE_MS) return { share: Math.max(SHARE_MIN, share / 2), checksWithoutDelay: 0 };
  if (share === 1 || checksWithoutDelay + 1 < CHECKS_WITHOUT_DELAY)
    return { share, checksWithoutDelay: checksWithoutDelay + 1 };
  return { share: share * 2, checksWithoutDelay: 0 };
}

/**
 * Checks once a second how late the event loop and the renewal of leases are, and calls `setShare` when the process
 * should run fewer or more jobs concurrently: an overloaded process loses its leases. Returns a function that stops
 * the checks.
 */
function watchLoad(log: Log, leases: { renewalLateMs: () => number }, setShare: (share: number) => void): () => void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let load: Load = { share: 1, checksWithoutDelay: 0 };
  const timer = setInterval(() => {
    const lateMs = Math.max(delays.max / 1e6, leases.renewalLateMs());
    delays.reset();
    const { share } = load;
    load = nextLoad(load, lateMs);
    if (load.share === share) return;
    setShare(load.share);
    const facts = { share: load.share, lateMs: Math.round(lateMs) };
    if (load.share < share) log.warn(facts, "process overloaded; reducing concurrency");
    else log.info(facts, "increasing concurrency again");
  }, CHECK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    delays.disable();
  };
}
