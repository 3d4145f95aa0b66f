import type { ApiSettings, WebhookSecrets } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { OpenLimit } from "@svc/http";
import type { AddressGuard } from "@svc/outbound";
import type { Queues } from "@svc/queue";
import { createBriefCache } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { retryUntilStored } from "@svc/work";
import type { ApiChannel } from "./api-channel.ts";
import type { Heartbeat } from "./messages/heartbeat.ts";
import type { ReplyBoard } from "./messages/reply-board.ts";

/**
 * Creates the persister of work that must be recorded after a response was sent. It retries as long as the store is
 * unavailable, and up to ten times after any other error, since replies whose delivery is never recorded are
 * delivered again when this process ends. The work must be idempotent.
 */
export function createPersister(log: Log, options: { retryMs?: number } = {}) {
  const open = new Set<Promise<void>>();
  const closing = new AbortController();

  return {
    /** Does the work, and repeats it until the store accepts it. Never rejects; the result need not be awaited. */
    persist(what: string, work: () => Promise<void>): Promise<void> {
      const running = retryUntilStored(log, work, { ...options, what, signal: closing.signal });
      open.add(running);
      void running.finally(() => open.delete(running));
      return running;
    },

    /** Waits for open work without further retries, since replies are released when this process ends. */
    async close(): Promise<void> {
      closing.abort();
      await Promise.all(open);
    },
  };
}

type Persister = ReturnType<typeof createPersister>;

/** Dependencies of the routes. */
export interface ApiContext {
  store: Store;
  queues: Queues;
  log: Log;
  channel: ApiChannel;
  board: ReplyBoard;
  persister: Persister;
  /** Heartbeat of this process, which holds the calls of waiting callers. */
  heartbeat: Heartbeat;
  /** Checks callback URLs. */
  guard: AddressGuard;
  /** Reads the current settings of the channel. */
  readSettings: () => Promise<ApiSettings>;
  /** Reads the secrets that sign the callbacks of a project. */
  readSecrets: (project: ProjectId) => Promise<WebhookSecrets>;
  /** Limits long polls and event streams of chats. */
  limitPolls: OpenLimit;
  /** Limits calls that wait for the reply to their message. */
  limitHeldCalls: OpenLimit;
}

/** A change of the settings takes effect within this time. */
const SETTINGS_MS = 1_000;

/** Creates the function that reads `channels_config.api.config`, from the store at most once a second. */
export function createSettingsReader(store: Store): () => Promise<ApiSettings> {
  const cache = createBriefCache<ApiSettings>(SETTINGS_MS);
  return async () => {
    const settings = await cache.get("api", async () => (await store.channelsConfig.read()).api.config);
    if (settings === null) throw new Error("the HTTP API settings are missing after they were read");
    return settings;
  };
}

/** Creates the function that reads the secrets that sign callbacks, from the store at most once a second per project. */
export function createSecretsReader(store: Store): (project: ProjectId) => Promise<WebhookSecrets> {
  const cache = createBriefCache<WebhookSecrets>(SETTINGS_MS);
  return async (project) => {
    const secrets = await cache.get(project, () => store.projects.findWebhookSecrets(project));
    // The project was just deleted: the key that sent the message signs.
    return secrets ?? { webhookSecret: null, previousWebhookSecret: null };
  };
}
