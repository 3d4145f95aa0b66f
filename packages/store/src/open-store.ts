import { ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import { agentsTable } from "./agents.ts";
import { apiKeysTable } from "./api-keys.ts";
import { callbacksTable } from "./callbacks.ts";
import { channelsConfigTable } from "./channels-config.ts";
import { chatsTable } from "./chats.ts";
import { chunkEmbeddingsTable } from "./chunk-embeddings.ts";
import { chunksTable } from "./chunks.ts";
import { openDb } from "./db.ts";
import { deliveriesTable } from "./deliveries.ts";
import { documentsTable } from "./documents.ts";
import { historyOf } from "./history.ts";
import { idempotencyKeysTable } from "./idempotency-keys.ts";
import { ingestsTable } from "./ingests.ts";
import { installationTable } from "./installation.ts";
import { instancesTable } from "./instances.ts";
import { kbsTable } from "./kbs.ts";
import { messagesTable } from "./messages.ts";
import { projectsTable } from "./projects.ts";
import { repliesTable } from "./replies.ts";
import { createSealer } from "./sealer.ts";
import { ticketsTable } from "./tickets.ts";
import { triageMessagesTable } from "./triage-messages.ts";

/** Connections of each pool at most: concurrent messages share statements, so a few carry many. */
const POOL_MAX = { general: 5, messages: 5, leases: 3 };

/** Opens the store. Nothing connects before the first query; `ping` tells whether it can be reached. */
export function openStore(options: { url: string; secretKey: string; log: Log; app?: string }) {
  const { url, log, app = "svc" } = options;
  const open = (purpose: keyof typeof POOL_MAX) =>
    openDb({ url, max: POOL_MAX[purpose], log, applicationName: app, purpose });
  const db = open("general");
  const hot = open("messages");
  const leases = open("leases");
  return {
    agents: agentsTable(db),
    apiKeys: apiKeysTable(db),
    callbacks: callbacksTable(hot),
    channelsConfig: channelsConfigTable(db),
    chats: chatsTable(leases),
    chunkEmbeddings: chunkEmbeddingsTable(db),
    chunks: chunksTable(db),
    deliveries: deliveriesTable(hot),
    documents: documentsTable(db),
    history: historyOf(hot),
    idempotencyKeys: idempotencyKeysTable(hot),
    ingests: ingestsTable(db, leases),
    installation: installationTable(db),
    instances: instancesTable(leases),
    kbs: kbsTable(db),
    messages: messagesTable(hot, leases),
    projects: projectsTable(db),
    replies: repliesTable(hot),
    tickets: ticketsTable(hot, leases),
    triageMessages: triageMessagesTable(db),
    sealer: createSealer(options.secretKey),

    /** True when the store answers. */
    async ping(): Promise<boolean> {
      try {
        await db.query("SELECT 1");
        return true;
      } catch (error) {
        if (error instanceof ServiceError) return false;
        throw error;
      }
    },

    async close(): Promise<void> {
      await Promise.all([db.close(), hot.close(), leases.close()]);
    },
  };
}

/** The open store: one entry a table, and what seals secrets. */
export type Store = ReturnType<typeof openStore>;
