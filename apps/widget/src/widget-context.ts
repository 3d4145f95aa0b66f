import type { AcceptedMessage, IncomingContext, IncomingMessage } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { Queues } from "@svc/queue";
import type { Store } from "@svc/store";
import type { SiteReader } from "./widget-site.ts";

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
