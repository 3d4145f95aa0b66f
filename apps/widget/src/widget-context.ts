import type { ReplyTimes } from "@svc/channel-manager";
import { ServiceError } from "@svc/contracts";
import type {
  AcceptedMessage,
  Channel,
  IncomingContext,
  IncomingHandler,
  IncomingMessage,
  WidgetSettings,
} from "@svc/contracts";
import type { Log } from "@svc/log";
import type { Queues } from "@svc/queue";
import { createBriefCache } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";

/** The widget as a channel, with the entry point for its routes and sockets. */
interface WidgetChannel extends Channel {
  /** Accepts a message; rejects with `channel_disabled` while the channel is disabled. */
  receive: IncomingHandler;
}

/** Returns the error of all requests of visitors while the channel is disabled. */
export const widgetDisabled = (): ServiceError =>
  new ServiceError(
    "channel_disabled",
    "The widget is disabled. An administrator can enable it: svc channels enable widget.",
    { headers: { "Retry-After": "30" } },
  );

/** Parts that the channel starts and stops, and the receiver of its announcements. */
interface WidgetServer {
  /** Binds the port. */
  open: () => Promise<void>;
  /** Closes every socket and frees the port; safe to call if nothing is open. */
  close: () => Promise<void>;
  /** Announces changes in these conversations to the sockets of every replica. */
  tell: (ticketIds: string[]) => void;
  /** Number of open sockets. */
  countSockets: () => number;
}

/**
 * Creates the widget channel. `start` binds its port; `stop` frees it, or leaves only the unsubscribe links of emails
 * on it (ADR 0064). Replies are read from the store by their sequence numbers, so that the channel is only notified of
 * them; they stay there until their visitor is connected.
 */
export function createWidgetChannel(server: WidgetServer): WidgetChannel {
  let handler: IncomingHandler | null = null;
  let isOpen = false;
  const tell = (ticketId: string | undefined) => {
    if (ticketId !== undefined) server.tell([ticketId]);
    return Promise.resolve();
  };
  return {
    id: "widget",
    countSockets: () => server.countSockets(),
    async start() {
      await server.open();
      isOpen = true;
    },
    async stop() {
      isOpen = false;
      await server.close();
    },
    onMessage(given) {
      if (handler !== null) throw new Error("the widget channel already has a handler");
      handler = given;
    },
    async receive(message, context) {
      if (!isOpen || handler === null) throw widgetDisabled();
      return handler(message, context);
    },
    sendMessage: (_chatId, _text, metadata) => tell(metadata?.ticketId),
    sendAttachment: (_chatId, _attachment, context) => tell(context?.ticketId),
    async announce(replies) {
      await Promise.all(replies.map(({ ticketId }) => tell(ticketId)));
    },
    markTyping: (_chatId, context) => tell(context?.ticketId),
  };
}

/** The current settings of the widget. */
export interface WidgetSite {
  settings: WidgetSettings;
  /** The project of its messages. */
  project: ProjectId;
  /** Times at which operators of that project reply. */
  replyTimes: ReplyTimes;
  /** Decrypted `identitySecret`; null if none is set, or if it was encrypted with another key. */
  identitySecret: string | null;
}

/** Reads the widget's settings. Rejects with `unavailable` while the store is unavailable. */
export type SiteReader = () => Promise<WidgetSite>;

/** Time until changed settings take effect. */
const SETTINGS_MS = 500;

/**
 * Creates the function that reads the widget's settings, from the store at most twice a second. If the settings list
 * sites, `ownOrigins` are allowed as well.
 */
export function createSiteReader(store: Store, ownOrigins: readonly string[]): SiteReader {
  const cache = createBriefCache<WidgetSite>(SETTINGS_MS);
  return async () => {
    const site = await cache.get("widget", async () => {
      const { widget } = await store.channelsConfig.read();
      const project = await store.projects.findByName(widget.config.project);
      if (project === null) return null;
      const { identitySecret: sealed, allowedOrigins } = widget.config;
      return {
        // An empty list allows every site, and must stay empty.
        settings:
          allowedOrigins.length === 0
            ? widget.config
            : { ...widget.config, allowedOrigins: [...allowedOrigins, ...ownOrigins] },
        project: project.id,
        replyTimes: project,
        identitySecret: sealed === null ? null : store.sealer.open(sealed),
      };
    });
    if (site === null) {
      throw new ServiceError(
        "unavailable",
        "The widget's project no longer exists. An administrator must choose another one.",
        {
          headers: { "Retry-After": "30" },
        },
      );
    }
    return site;
  };
}

/** Dependencies of the routes and sockets of the widget. */
export interface WidgetContext {
  store: Store;
  queues: Queues;
  log: Log;
  readSite: SiteReader;
  /** Maximum open sockets in this process, and of one address with one key. */
  ceilings: { socketsPerAddress: number; sockets: number };
  /** Accepts a message; it is committed when this resolves. */
  receive(message: IncomingMessage, context: IncomingContext): Promise<AcceptedMessage>;
  /** Announces changes in these conversations to the sockets of every replica. */
  tell(ticketIds: string[]): void;
}
