import { ServiceError } from "@svc/contracts";
import type {
  AcceptedMessage,
  ApiSettings,
  Channel,
  IncomingContext,
  IncomingHandler,
  IncomingMessage,
  ReplyAnnouncement,
  WebhookSecrets,
} from "@svc/contracts";
import type { OpenLimit } from "@svc/http";
import type { Log } from "@svc/log";
import type { AddressGuard } from "@svc/outbound";
import type { Queues } from "@svc/queue";
import { asProjectId, createBriefCache } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { retryUntilStored } from "@svc/work";
import type { CallbackWork } from "./callbacks/deliver-callbacks.ts";
import type { Heartbeat, ReplyBoard } from "./messages/waiting-calls.ts";

/** The HTTP API as a channel that its routes pass messages to. */
interface ApiChannel extends Channel {
  /** Passes a message on; rejects with `channel_disabled` while the channel is disabled. */
  receive(message: IncomingMessage, context: IncomingContext): Promise<AcceptedMessage>;
}

/** Dependencies of the channel. */
interface ApiChannelContext {
  board: Pick<ReplyBoard, "notify">;
  callbacks: Pick<CallbackWork, "create">;
  /** Returns the problem of the server, which also carries administration and is not stopped with the channel. */
  findProblem: () => string | null;
}

/**
 * Creates the HTTP API channel. Replies are collected by waiting calls and drains, or sent to a callback URL, so the
 * channel only handles announcements: it wakes up the waiters, and creates the callbacks of webhook messages. Both
 * are safe to repeat. `start` and `stop` enable and disable incoming messages.
 */
export function createApiChannel({ board, callbacks, findProblem }: ApiChannelContext): ApiChannel {
  let handler: IncomingHandler | null = null;
  let isOpen = false;

  async function announce(announcements: readonly ReplyAnnouncement[]): Promise<void> {
    const webhooks = announcements.filter(({ mode }) => mode === "webhook");
    for (const { ticketId, messageId, mode } of announcements) {
      if (mode !== "webhook") board.notify(ticketId, messageId ?? undefined);
    }
    if (webhooks.length === 0) return;
    await callbacks.create(webhooks.map(({ project, ticketId }) => ({ project: asProjectId(project), ticketId })));
  }

  async function announceOne(context: { project?: string; ticketId?: string; inReplyTo?: string } = {}): Promise<void> {
    const { project, ticketId, inReplyTo = null } = context;
    if (project === undefined || ticketId === undefined) return;
    await announce([{ project, ticketId, messageId: inReplyTo, mode: null }]);
  }

  return {
    id: "api",
    start() {
      isOpen = true;
      return Promise.resolve();
    },
    stop() {
      isOpen = false;
      return Promise.resolve();
    },
    onMessage(given) {
      if (handler !== null) throw new Error("the api channel already has a handler");
      handler = given;
    },
    async receive(message, context) {
      if (!isOpen || handler === null) {
        throw new ServiceError(
          "channel_disabled",
          "The HTTP API channel is disabled. An administrator can enable it: svc channels enable api.",
          { headers: { "Retry-After": "30" } },
        );
      }
      return handler(message, context);
    },
    sendMessage: (_chatId, _text, metadata) => announceOne(metadata),
    sendAttachment: (_chatId, _attachment, context) => announceOne(context),
    announce,
    findProblem,
  };
}

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
