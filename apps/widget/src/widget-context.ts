import type { ReplyTimes } from "@svc/channel-manager";
import { ServiceError } from "@svc/contracts";
import type { WidgetSettings, AcceptedMessage, IncomingContext, IncomingMessage } from "@svc/contracts";
import { createBriefCache } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import type { Log } from "@svc/log";
import type { Queues } from "@svc/queue";

/** The widget as it is set up right now. */
export interface WidgetSite {
  settings: WidgetSettings;
  /** The project that its messages belong to. */
  project: ProjectId;
  /** When people of that project reply. */
  replyTimes: ReplyTimes;
  /** Opened `identitySecret`; null while none is set, or where it was sealed with another key. */
  identitySecret: string | null;
}

/** Reads the widget's settings. Rejects with `unavailable` while the store is unavailable. */
export type SiteReader = () => Promise<WidgetSite>;

/** A change of the settings takes effect within this time. */
const SETTINGS_MS = 500;

/**
 * Makes the function that reads how the widget is set up, from the store at most twice a second. Where the settings name
 * sites, `ownOrigins` are allowed beside them.
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
        // An empty list allows any, and must stay empty.
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

/** What the routes and sockets of the widget work with. */
export interface WidgetContext {
  store: Store;
  queues: Queues;
  log: Log;
  readSite: SiteReader;
  /** How many sockets may be open in this process, and of one address with one key. */
  ceilings: { socketsPerAddress: number; sockets: number };
  /** Hands a message over; it is committed when this resolves. */
  receive(message: IncomingMessage, context: IncomingContext): Promise<AcceptedMessage>;
  /** Says that something has happened in these conversations, to the sockets of every replica. */
  tell(ticketIds: string[]): void;
}
