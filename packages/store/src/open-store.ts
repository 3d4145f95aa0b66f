import { ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import { bind } from "./context.ts";
import type { Context } from "./context.ts";
import { isBusy, openDb } from "./db.ts";
import { newId } from "./ids.ts";
import type { ProjectId } from "./ids.ts";
import * as agents from "./knowledge/agents.ts";
import * as articles from "./knowledge/articles.ts";
import * as chunkEmbeddings from "./knowledge/chunk-embeddings.ts";
import * as chunks from "./knowledge/chunks.ts";
import { documents } from "./knowledge/documents.ts";
import * as gaps from "./knowledge/gaps.ts";
import * as ingestQueue from "./knowledge/ingest-queue.ts";
import * as ingests from "./knowledge/ingests.ts";
import * as kbs from "./knowledge/kbs.ts";
import * as proposals from "./knowledge/proposals.ts";
import { callbacks } from "./messages/callbacks.ts";
import * as channelUpdates from "./messages/channel-updates.ts";
import * as chats from "./messages/chats.ts";
import * as deliveries from "./messages/deliveries.ts";
import * as fileObjects from "./messages/file-objects.ts";
import * as files from "./messages/files.ts";
import * as idempotencyKeys from "./messages/idempotency-keys.ts";
import * as messages from "./messages/messages.ts";
import * as outboxes from "./messages/outboxes.ts";
import * as replies from "./messages/replies.ts";
import * as visitors from "./messages/visitors.ts";
import * as audit from "./people/audit.ts";
import { apiKeys, operatorLinks, operatorSessions } from "./people/credentials.ts";
import * as customers from "./people/customers.ts";
import * as erasures from "./people/erasures.ts";
import * as emailNotifications from "./people/notifications.ts";
import * as operators from "./people/operators.ts";
import * as hooks from "./platform/hooks.ts";
import * as installation from "./platform/installation.ts";
import { modelCalls, modelPulls } from "./platform/models.ts";
import { openObjectStore } from "./platform/object-store.ts";
import * as partitions from "./platform/partitions.ts";
import * as processes from "./platform/processes.ts";
import * as projects from "./platform/projects.ts";
import * as quotas from "./platform/quotas.ts";
import * as reportTables from "./platform/reports.ts";
import { createDiskWatch, createConnectionWatchdog } from "./platform/server-checks.ts";
import * as stats from "./platform/stats.ts";
import { STORAGE_LIMITS, storedBytesTable } from "./platform/stored-bytes.ts";
import type { StorageLimits } from "./platform/stored-bytes.ts";
import * as webhooks from "./platform/webhooks.ts";
import { assignNext, triageMessages } from "./tickets/apply-decision.ts";
import * as cannedReplies from "./tickets/canned-replies.ts";
import { issues } from "./tickets/issues.ts";
import * as reviews from "./tickets/reviews.ts";
import * as tags from "./tickets/tags.ts";
import * as ticketDetails from "./tickets/ticket-details.ts";
import * as ticketIndex from "./tickets/ticket-index.ts";
import * as ticketList from "./tickets/ticket-list.ts";
import { operatorReplies, ticketChanges } from "./tickets/ticket-record.ts";
import * as tickets from "./tickets/tickets.ts";
import * as toolCalls from "./tickets/tool-calls.ts";

/** Maximum of connections of each pool: few are enough, since concurrent messages share statements. */
const POOL_MAX = { general: 5, messages: 5, leases: 3, reports: 1, notes: 2 };

const DISK_IS_FULL = "the disk of PostgreSQL is full or broken";

/** Opens the store. Nothing connects before the first query; `ping` checks whether it is reachable. */
// oxlint-disable-next-line max-lines-per-function -- the list of the tables
export function openStore(options: {
  url: string;
  secretKey: string;
  log: Log;
  app?: string;
  storageLimits?: StorageLimits;
  /** See `openObjectStore`; if absent, PostgreSQL stores the contents of files. */
  filesUrl?: string | undefined;
}) {
  const { url, log, app = "svc", storageLimits = STORAGE_LIMITS, filesUrl } = options;
  const processId = newId();
  const watch = createConnectionWatchdog({ url, log, applicationName: app });
  const disk = createDiskWatch({ log, now: () => performance.now() });
  const open = (purpose: keyof typeof POOL_MAX) =>
    openDb({ url, max: POOL_MAX[purpose], log, applicationName: app, purpose, watch, disk });
  const db = open("general");
  const hot = open("messages");
  const leases = open("leases");
  const reports = open("reports");
  // For records of what callers have received, which must wait for nothing else: if this process crashed before the
  // write, callers would receive it again.
  const notes = open("notes");

  const storedBytes = storedBytesTable(db, { limits: storageLimits, log, isDiskFull: disk.isFull });
  const objects = filesUrl === undefined ? null : openObjectStore(filesUrl);
  const context: Context = { db, hot, leases, notes, reports, processId, storedBytes, objects };

  async function findProblem(): Promise<string | null> {
    try {
      // A full pool does not mean that PostgreSQL is unavailable: try another one.
      await db.query("SELECT 1").catch((error: unknown) => {
        if (!isBusy(error)) throw error;
        return leases.query("SELECT 1");
      });
    } catch (error) {
      if (isBusy(error)) return "all database connections of this process are in use";
      if (error instanceof ServiceError) return disk.isFull() ? DISK_IS_FULL : "PostgreSQL is unreachable";
      throw error;
    }
    return disk.isFull() ? DISK_IS_FULL : null;
  }

  return {
    agents: bind(db, agents),
    apiKeys: bind(db, apiKeys),
    audit: bind(db, audit),
    callbacks: bind(hot, callbacks),
    channelStates: bind(context, processes.channelStates),
    articles: bind(db, articles),
    cannedReplies: bind(db, cannedReplies),
    channelsConfig: bind(db, installation.channelsConfig),
    chats: bind(leases, chats),
    chunkEmbeddings: bind(db, chunkEmbeddings),
    chunks: bind(db, chunks),
    customers: bind(db, {
      find: customers.find,
      listPage: customers.listPage,
      update: customers.update,
      merge: customers.merge,
      listOpenTickets: customers.listOpenTickets,
      addNote: customers.addNote,
      removeNote: customers.removeNote,
    }),
    deliveries: bind(hot, deliveries),
    documents: bind(db, documents),
    dueWork: bind(hot, processes.dueWork),
    emailNotifications: bind(db, emailNotifications),
    erasures: {
      ...bind(db, erasures),
      read: (project: ProjectId, ticketId: string) =>
        fileObjects.withContents(context, erasures.read(db, project, ticketId)),
    },
    fileObjects: {
      /** True if contents of files are moved to an object store. */
      isConfigured: objects !== null,
      ...bind(context, {
        check: fileObjects.checkObjects,
        move: fileObjects.moveFiles,
        remove: fileObjects.removeObjects,
      }),
    },
    gaps: bind(db, gaps),
    history: bind(hot, { listBefore: chats.listBefore }),
    hooks: bind(db, hooks),
    idempotencyKeys: bind(context, idempotencyKeys),
    imports: bind(db, {
      purge: ingestQueue.purgeImports,
      find: ingestQueue.findImport,
      remove: ingestQueue.deleteImport,
      list: ingestQueue.listImports,
    }),
    ingests: bind(context, ingests),
    installation: {
      ...bind(db, {
        checkSecretKey: installation.checkSecretKey,
        isInitialized: installation.isInitialized,
        isAdminKeyShown: installation.isAdminKeyShown,
        markAdminKeyShown: installation.markAdminKeyShown,
        markInitialized: installation.markInitialized,
        findModelSettings: installation.findModelSettings,
        setModelSettings: installation.setModelSettings,
      }),
      exclusively: <Result>(work: () => Promise<Result>) => installation.exclusively(db, work),
    },
    instances: bind(context, processes.instances),
    issues: bind(db, issues),
    kbs: bind(db, kbs),
    messages: bind(context, messages),
    channelUpdates: bind(hot, channelUpdates),
    operatorReplies: bind(db, operatorReplies),
    modelPulls: bind(db, modelPulls),
    modelCalls: bind(db, modelCalls),
    operatorFiles: bind(context, files.operatorFiles),
    operatorLinks: bind(db, operatorLinks),
    operatorPresence: bind(db, operators.operatorPresence),
    operatorSessions: bind(db, operatorSessions),
    operatorViews: bind(db, operators.operatorViews),
    operators: bind(db, operators),
    outboxes: bind(context, outboxes),
    partitions: bind({ db, url, log }, { maintain: partitions.maintainPartitions }),
    processes: { ownId: processId, ...bind(context, processes) },
    projects: bind(db, projects),
    proposals: bind(db, proposals),
    pushSubscriptions: bind(db, emailNotifications.pushSubscriptions),
    quotas: {
      ...bind(context, { checkSockets: quotas.checkSockets }),
      ...bind(reports, { listDays: quotas.listDays }),
    },
    queueDepths: bind(db, { read: stats.readDepths }),
    replies: bind(context, replies),
    reports: bind(reports, {
      read: reportTables.read,
      readSignals: reportTables.readSignals,
      readBacklog: reportTables.readBacklog,
      listRatings: reportTables.listRatings,
    }),
    reviews: bind(context, reviews),
    serviceLeases: bind(leases, processes.serviceLeases),
    stats: bind(reports, { read: stats.read, readAnswers: stats.readAnswers, readQueues: stats.readQueues }),
    storedBytes,
    tags: bind(db, tags),
    ticketChanges: bind(db, ticketChanges),
    ticketDetails: bind(db, ticketDetails),
    ticketIndex: bind(db, {
      follow: ticketIndex.follow,
      wakeSnoozed: ticketIndex.wakeSnoozed,
      recordBreaches: ticketIndex.recordBreaches,
      assignNext,
    }),
    ticketList: bind(db, ticketList),
    ticketTexts: bind(context, { indexNext: ticketIndex.indexNext }),
    tickets: bind(context, tickets),
    toolCalls: bind(context, toolCalls),
    triageMessages: bind(db, triageMessages),
    unfinishedReplies: bind(context, outboxes.unfinishedReplies),
    visitors: bind(hot, visitors),
    webhooks: bind(hot, webhooks),
    widgetFiles: bind(context, files),
    sealer: installation.createSealer(options.secretKey),

    /** Reads the clock of the database, in milliseconds since 1970. */
    async readTimeMs(): Promise<number> {
      const rows = await db.query<{ ms: number }>("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS ms");
      return rows[0]?.ms ?? Number.NaN;
    },

    /** Returns true if the store responds and could write recently. */
    async ping(): Promise<boolean> {
      return (await findProblem()) === null;
    },

    /** Returns the reason why nothing can be accepted now; null if the store responds and could write recently. */
    findProblem,

    /** Checks that the store can write, with a temporary write. Rejects as a statement does on a full disk. */
    async checkWrites(): Promise<void> {
      await db.query(
        "CREATE TEMPORARY TABLE svc_write_check ON COMMIT DROP AS SELECT repeat('x', 1000) FROM generate_series(1, 100)",
      );
    },

    async close(): Promise<void> {
      watch.close();
      await Promise.all([db.close(), hot.close(), leases.close(), reports.close(), notes.close()]);
    },
  };
}

/** The open store: one entry per table, and the sealer of secrets. */
export type Store = ReturnType<typeof openStore>;
