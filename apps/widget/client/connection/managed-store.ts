import type { WidgetConfigAnswer } from "@svc/contracts";
import type { WidgetStore } from "../state.ts";
import type { Storage } from "../storage.ts";
import type { ConnectionOptions } from "./open-connection.ts";
import type { Locks } from "./outbox.ts";
import type { Identity } from "../launch/page-settings.ts";

/** What happens, as the page is told; `error` has the code of the server. */
export interface WidgetEvents {
  message: { id: string; role: "visitor" | "agent" | "operator" | "system"; text: string };
  unread: number;
  error: { code: string };
}

/** What the store needs. */
export interface StoreOptions extends Pick<ConnectionOptions, "openSocket" | "loadHttp" | "random"> {
  /** Address of the widget's server, with a slash at its end. */
  base: string;
  apiKey: string;
  config: WidgetConfigAnswer;
  storage: Storage;
  identity: Identity | null;
  /** Language of the widget, BCP 47; goes with each message. */
  locale: () => string;
  /** The page on which the visitor is now. */
  page(): { url: string; title: string };
  emit: <Name extends keyof WidgetEvents>(name: Name, detail: WidgetEvents[Name]) => void;
  locks: Locks;
}

/** The store with what the page, rather than the panel, asks for. */
export interface ManagedStore extends WidgetStore {
  /** Tells who the visitor is; another user than before begins a conversation of their own. */
  identify: (identity: Identity) => void;
  /** Ends the visitor's conversation in this browser: the next message is another visitor's. */
  logout: () => void;
  /** The page is being left, perhaps to come back: takes the line down and leaves unsent messages to other tabs. */
  suspend: () => void;
  /** The page is there again. */
  resume: () => void;
  /** The network may be back, or somebody looks: tries at once where the line waits to try again. */
  retryNow: () => void;
  /** The network has gone, which a line that is up would notice late. */
  restart: () => void;
  /** Ends everything; what was not sent is kept for the next page. */
  stop: () => void;
}
