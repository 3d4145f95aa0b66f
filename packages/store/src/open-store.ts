import { ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import { agentsTable } from "./agents.ts";
import { apiKeysTable } from "./api-keys.ts";
import { channelsConfigTable } from "./channels-config.ts";
import { chatsTable } from "./chats.ts";
import { chunksTable } from "./chunks.ts";
import { openDb } from "./db.ts";
import { documentsTable } from "./documents.ts";
import { installationTable } from "./installation.ts";
import { instancesTable } from "./instances.ts";
import { kbsTable } from "./kbs.ts";
import { messagesTable } from "./messages.ts";
import { projectsTable } from "./projects.ts";
import { repliesTable } from "./replies.ts";
import { createSealer } from "./sealer.ts";
import { ticketsTable } from "./tickets.ts";

/** Opens the store. Nothing connects before the first query; `ping` tells whether it can be reached. */
export function openStore(options: { url: string; secretKey: string; log: Log; max?: number; app?: string }) {
  const { url, log, max = 10, app = "svc" } = options;
  const db = openDb({ url, max, log, applicationName: app });
  return {
    agents: agentsTable(db),
    apiKeys: apiKeysTable(db),
    channelsConfig: channelsConfigTable(db),
    chats: chatsTable(db),
    chunks: chunksTable(db),
    documents: documentsTable(db),
    installation: installationTable(db),
    instances: instancesTable(db),
    kbs: kbsTable(db),
    messages: messagesTable(db),
    projects: projectsTable(db),
    replies: repliesTable(db),
    tickets: ticketsTable(db),
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

    close: () => db.close(),
  };
}

/** The open store: one entry a table, and what seals secrets. */
export type Store = ReturnType<typeof openStore>;
