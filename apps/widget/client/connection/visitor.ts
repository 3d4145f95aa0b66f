import type { Identity } from "../launch/page-settings.ts";
import type { Storage } from "../storage.ts";
import { newId } from "./new-id.ts";

/** The visitor of this browser. The id is a secret: it is only sent in headers and the socket's first message. */
export interface Visitor {
  /** Returns the id, which is created when it is first needed. */
  id: () => string;
  /** Number of the conversation that this tab shows. */
  chat: () => number;
  /** Shows another conversation, in other tabs too. */
  chooseChat: (conversation: number) => void;
  /** Returns true if this browser has used the service before. */
  isKnown: () => boolean;
  /** Returns true if another tab has replaced or removed the visitor of this tab. */
  hasChanged: () => boolean;
  /** Returns true if the site has identified the visitor. */
  hasProof: () => boolean;
  /** Returns the credentials as HTTP headers. */
  headers: () => Record<string, string>;
  /** Returns the credentials for the socket. */
  auth: () => { visitorId: string; conversation: number } & Partial<Identity>;
  /** Stores the id again if the page has removed it: new messages belong to it. */
  keep: () => void;
  /** Switches to the visitor stored in this browser; an earlier identity given by the page no longer counts. */
  follow: () => void;
  /**
   * Sets the identity of the visitor. Returns true if it replaces another one, whose conversation must not be shown.
   */
  identify: (identity: Identity) => boolean;
  /** Removes the visitor: the next id is another visitor's. */
  forget: () => void;
}

const VISITOR = "visitor";
const USER = "user";
const CHAT = "chat";
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Returns the stored visitor, or a new one. */
// oxlint-disable-next-line max-lines-per-function -- Shared names stay local, so that they minify (size budget).
export function openVisitor(storage: Storage, apiKey: string): Visitor {
  let identity: Identity | null = null;
  let current: string | null = null;

  const keptChat = () => {
    const number = storage.read(CHAT);
    return typeof number === "number" ? number : 1;
  };
  let chat = keptChat();

  function kept(): string | null {
    const id = storage.read(VISITOR);
    return typeof id === "string" && UUID_V4.test(id) ? id : null;
  }

  function id(): string {
    // A page may clear the storage during a conversation.
    if (current === null) {
      current = kept() ?? newId();
      keep();
    }
    return current;
  }

  function keep(): void {
    if (current !== null && kept() === null) storage.write(VISITOR, current);
  }

  return {
    id,
    chat: () => chat,
    chooseChat(conversation) {
      chat = conversation;
      storage.write(CHAT, conversation);
    },
    isKnown: () => kept() !== null,
    hasChanged: () => current !== null && (current !== kept() || chat !== keptChat()),
    keep,
    follow() {
      current = null;
      chat = keptChat();
      if (storage.read(USER) !== identity?.userId) identity = null;
    },
    hasProof: () => identity?.userHash !== undefined,
    headers: () => ({
      "X-Api-Key": apiKey,
      "X-Visitor-Id": id(),
      "X-Conversation": String(chat),
      ...(identity !== null && { "X-User-Id": encodeURIComponent(identity.userId) }),
      ...(identity?.userHash !== undefined && { "X-User-Hash": identity.userHash }),
    }),
    auth: () => ({ visitorId: id(), conversation: chat, ...identity }),
    identify(given) {
      const before = storage.read(USER);
      identity = given;
      storage.write(USER, given.userId);
      return before !== null && before !== given.userId;
    },
    forget() {
      identity = null;
      current = null;
      chat = 1;
      storage.write(CHAT, null);
      // Other tabs switch when they are notified of the visitor, and must not find the user then.
      storage.write(USER, null);
      storage.write(VISITOR, null);
    },
  };
}
