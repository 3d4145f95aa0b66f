import { ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import { agentsTable } from "./agents.ts";
import { apiKeysTable } from "./api-keys.ts";
import { auditTable } from "./audit.ts";
import { callbacksTable } from "./callbacks.ts";
import { channelStatesTable } from "./channel-states.ts";
import { cannedRepliesTable } from "./canned-replies.ts";
import { channelsConfigTable } from "./channels-config.ts";
import { chatsTable } from "./chats.ts";
import { chunkEmbeddingsTable } from "./chunk-embeddings.ts";
import { chunksTable } from "./chunks.ts";
import { isBusy, openDb } from "./db.ts";
import { deliveriesTable } from "./deliveries.ts";
import { documentsTable } from "./documents.ts";
import { erasuresTable } from "./erasures.ts";
import { gapsTable } from "./gaps.ts";
import { historyOf } from "./history.ts";
import { hooksTable } from "./hooks.ts";
import { idempotencyKeysTable } from "./idempotency-keys.ts";
import { importsTable } from "./imports.ts";
import { ingestsTable } from "./ingests.ts";
import { installationTable } from "./installation.ts";
import { instancesTable } from "./instances.ts";
import { issuesTable } from "./issues.ts";
import { kbsTable } from "./kbs.ts";
import { newId } from "./ids.ts";
import { createDiskWatch } from "./disk-watch.ts";
import { createLineWatch } from "./line-watch.ts";
import { messagesTable } from "./messages.ts";
import { operatorRepliesOf } from "./operator-replies.ts";
import { messengerUpdatesTable } from "./messenger-updates.ts";
import { modelPullsTable } from "./model-pulls.ts";
import { modelCallsTable } from "./model-calls.ts";
import { operatorFilesTable } from "./operator-files.ts";
import { operatorLinksTable } from "./operator-links.ts";
import { operatorPresenceTable } from "./operator-presence.ts";
import { operatorSessionsTable } from "./operator-sessions.ts";
import { operatorViewsTable } from "./operator-views.ts";
import { operatorsTable } from "./operators.ts";
import { outboxesTable } from "./outboxes.ts";
import { processesTable } from "./processes.ts";
import { projectsTable } from "./projects.ts";
import { proposalsTable } from "./proposals.ts";
import { queueDepthsOf } from "./queue-depths.ts";
import { repliesTable } from "./replies.ts";
import { reviewsTable } from "./reviews.ts";
import { createSealer } from "./sealer.ts";
import { serviceLeasesTable } from "./service-leases.ts";
import { statsOf } from "./stats.ts";
import { STORAGE_LIMITS, storedBytesTable } from "./stored-bytes.ts";
import type { StorageLimits } from "./stored-bytes.ts";
import { ticketChangesOf } from "./ticket-changes.ts";
import { ticketDetailsTable } from "./ticket-details.ts";
import { ticketIndexTable } from "./ticket-index.ts";
import { ticketListTable } from "./ticket-list.ts";
import { ticketTextsTable } from "./ticket-texts.ts";
import { ticketsTable } from "./tickets.ts";
import { toolCallsTable } from "./tool-calls.ts";
import { triageMessagesTable } from "./triage-messages.ts";
import { unfinishedRepliesTable } from "./unfinished-replies.ts";
import { visitorsTable } from "./visitors.ts";
import { widgetFilesTable } from "./widget-files.ts";

/** Connections of each pool at most: concurrent messages share statements, so a few carry many. */
const POOL_MAX = { general: 5, messages: 5, leases: 3, reports: 1, notes: 2 };

const DISK_IS_FULL = "the disk of PostgreSQL is full or broken";

/** Opens the store. Nothing connects before the first query; `ping` tells whether it can be reached. */
export function openStore(options: {
  url: string;
  secretKey: string;
  log: Log;
  app?: string;
  storageLimits?: StorageLimits;
}) {
  const { url, log, app = "svc", storageLimits = STORAGE_LIMITS } = options;
  const processId = newId();
  const watch = createLineWatch({ url, log, applicationName: app });
  const disk = createDiskWatch({ log, now: () => performance.now() });
  const open = (purpose: keyof typeof POOL_MAX) =>
    openDb({ url, max: POOL_MAX[purpose], log, applicationName: app, purpose, watch, disk });
  const db = open("general");
  const hot = open("messages");
  const leases = open("leases");
  const reports = open("reports");
  // Records what callers have received. Until that is written, a crash of this process would show it to them again, so
  // that it waits behind nothing else.
  const notes = open("notes");

  const storedBytes = storedBytesTable(db, { limits: storageLimits, log, isDiskFull: disk.isFull });

  async function findFault(): Promise<string | null> {
    try {
      // A pool that is full says nothing about PostgreSQL: another one is asked.
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
    agents: agentsTable(db),
    apiKeys: apiKeysTable(db),
    audit: auditTable(db),
    callbacks: callbacksTable(hot),
    channelStates: channelStatesTable(leases),
    cannedReplies: cannedRepliesTable(db),
    channelsConfig: channelsConfigTable(db),
    chats: chatsTable(leases),
    chunkEmbeddings: chunkEmbeddingsTable(db),
    chunks: chunksTable(db),
    deliveries: deliveriesTable(hot),
    documents: documentsTable(db),
    erasures: erasuresTable(db),
    gaps: gapsTable(db),
    history: historyOf(hot),
    hooks: hooksTable(db),
    idempotencyKeys: idempotencyKeysTable(hot, notes),
    imports: importsTable(db),
    ingests: ingestsTable(db, leases, processId, storedBytes),
    installation: installationTable(db),
    instances: instancesTable(leases),
    issues: issuesTable(db),
    kbs: kbsTable(db),
    messages: messagesTable(hot, leases, processId),
    channelUpdates: messengerUpdatesTable(hot),
    operatorReplies: operatorRepliesOf(db),
    modelPulls: modelPullsTable(db),
    modelCalls: modelCallsTable(db),
    operatorFiles: operatorFilesTable(db, storedBytes),
    operatorLinks: operatorLinksTable(db),
    operatorPresence: operatorPresenceTable(db),
    operatorSessions: operatorSessionsTable(db),
    operatorViews: operatorViewsTable(db),
    operators: operatorsTable(db),
    outboxes: outboxesTable(hot, processId),
    processes: processesTable(leases, processId),
    projects: projectsTable(db),
    proposals: proposalsTable(db),
    queueDepths: queueDepthsOf(db),
    replies: repliesTable(hot, notes),
    reviews: reviewsTable(db, hot, leases, processId),
    serviceLeases: serviceLeasesTable(leases),
    stats: statsOf(reports),
    storedBytes,
    ticketChanges: ticketChangesOf(db),
    ticketDetails: ticketDetailsTable(db),
    ticketIndex: ticketIndexTable(db),
    ticketList: ticketListTable(db),
    ticketTexts: ticketTextsTable(db),
    tickets: ticketsTable(hot, leases),
    toolCalls: toolCallsTable(db, hot),
    triageMessages: triageMessagesTable(db),
    unfinishedReplies: unfinishedRepliesTable(hot, leases),
    visitors: visitorsTable(hot),
    widgetFiles: widgetFilesTable(db, storedBytes),
    sealer: createSealer(options.secretKey),

    /** The clock of the database, in milliseconds since 1970. */
    async readTimeMs(): Promise<number> {
      const rows = await db.query<{ ms: number }>("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS ms");
      return rows[0]?.ms ?? Number.NaN;
    },

    /** True when the store answers and could write a moment ago. */
    async ping(): Promise<boolean> {
      return (await findFault()) === null;
    },

    /** In words why nothing can be accepted now; null when the store answers and could write a moment ago. */
    findFault,

    /** Writes something that goes away again. Rejects as a statement does that finds the disk full. */
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

/** The open store: one entry a table, and what seals secrets. */
export type Store = ReturnType<typeof openStore>;
