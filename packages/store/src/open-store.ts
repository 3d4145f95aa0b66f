import { ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import { agentsTable } from "./knowledge/agents.ts";
import { apiKeysTable } from "./people/api-keys.ts";
import { auditTable } from "./people/audit.ts";
import { callbacksTable } from "./messages/callbacks.ts";
import { channelStatesTable } from "./platform/channel-states.ts";
import { cannedRepliesTable } from "./tickets/canned-replies.ts";
import { channelsConfigTable } from "./platform/channels-config.ts";
import { chatsTable } from "./messages/chats.ts";
import { chunkEmbeddingsTable } from "./knowledge/chunk-embeddings.ts";
import { chunksTable } from "./knowledge/chunks.ts";
import { isBusy, openDb } from "./db.ts";
import { deliveriesTable } from "./messages/deliveries.ts";
import { documentsTable } from "./knowledge/documents.ts";
import { erasuresTable } from "./people/erasures.ts";
import { gapsTable } from "./knowledge/gaps.ts";
import { historyOf } from "./messages/history.ts";
import { hooksTable } from "./platform/hooks.ts";
import { idempotencyKeysTable } from "./messages/idempotency-keys.ts";
import { importsTable } from "./knowledge/imports.ts";
import { ingestsTable } from "./knowledge/ingests.ts";
import { installationTable } from "./platform/installation.ts";
import { instancesTable } from "./platform/instances.ts";
import { issuesTable } from "./tickets/issues.ts";
import { kbsTable } from "./knowledge/kbs.ts";
import { newId } from "./ids.ts";
import { createDiskWatch } from "./platform/disk-watch.ts";
import { createLineWatch } from "./platform/line-watch.ts";
import { messagesTable } from "./messages/messages.ts";
import { operatorRepliesOf } from "./tickets/operator-replies.ts";
import { messengerUpdatesTable } from "./messages/messenger-updates.ts";
import { modelPullsTable } from "./platform/model-pulls.ts";
import { modelCallsTable } from "./platform/model-calls.ts";
import { operatorFilesTable } from "./tickets/operator-files.ts";
import { operatorLinksTable } from "./people/operator-links.ts";
import { operatorPresenceTable } from "./people/operator-presence.ts";
import { operatorSessionsTable } from "./people/operator-sessions.ts";
import { operatorViewsTable } from "./people/operator-views.ts";
import { operatorsTable } from "./people/operators.ts";
import { outboxesTable } from "./messages/outboxes.ts";
import { processesTable } from "./platform/processes.ts";
import { projectsTable } from "./platform/projects.ts";
import { proposalsTable } from "./knowledge/proposals.ts";
import { queueDepthsOf } from "./platform/queue-depths.ts";
import { repliesTable } from "./messages/replies.ts";
import { reviewsTable } from "./tickets/reviews.ts";
import { createSealer } from "./platform/sealer.ts";
import { serviceLeasesTable } from "./platform/service-leases.ts";
import { statsOf } from "./platform/stats.ts";
import { STORAGE_LIMITS, storedBytesTable } from "./platform/stored-bytes.ts";
import type { StorageLimits } from "./platform/stored-bytes.ts";
import { ticketChangesOf } from "./tickets/ticket-changes.ts";
import { ticketDetailsTable } from "./tickets/ticket-details.ts";
import { ticketIndexTable } from "./tickets/ticket-index.ts";
import { ticketListTable } from "./tickets/ticket-list.ts";
import { ticketTextsTable } from "./tickets/ticket-texts.ts";
import { ticketsTable } from "./tickets/tickets.ts";
import { toolCallsTable } from "./tickets/tool-calls.ts";
import { triageMessagesTable } from "./tickets/triage-messages.ts";
import { unfinishedRepliesTable } from "./messages/unfinished-replies.ts";
import { visitorsTable } from "./messages/visitors.ts";
import { widgetFilesTable } from "./messages/widget-files.ts";

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
    messengerUpdates: messengerUpdatesTable(hot),
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
