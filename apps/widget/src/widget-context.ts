import type { ReplyTimes } from "@svc/channel-manager";
import { ServiceError } from "@svc/contracts";
import type { WidgetSettings, AcceptedMessage, IncomingContext, IncomingMessage } from "@svc/contracts";
import { createBriefCache } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import type { Log } from "@svc/log";
import type { Queues } from "@svc/queue";

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
