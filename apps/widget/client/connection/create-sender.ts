import type { ServerFrame, ServerFrameData, ServerFrameType, VisitorMessage } from "@svc/contracts";
import { LIMITS } from "../state.ts";
import type { Contact, Entry, FileView, WidgetState } from "../state.ts";
import { newId } from "../storage.ts";
import { addMessage, addReply, growPartial, hasGap } from "./conversation.ts";
import type { ServerConnection } from "./open-connection.ts";
import type { Outbox } from "./outbox.ts";
import type { StoreCore } from "./store-core.ts";

/** Content of a message. */
interface MessageParts {
  text: string;
  files: FileView[];
  wantsPerson: boolean;
  contact: Contact | null;
  /** BCP 47. */
  locale: string;
  page: { url: string; title: string };
}

/** Returns a message for the server, with a new id; null if it is empty. */
export function composeMessage({
  text,
  files,
  wantsPerson,
  contact,
  locale,
  page,
}: MessageParts): VisitorMessage | null {
  const words = clean(text).trim();
  if (words === "" && files.length === 0) return null;
  const attachments = files.flatMap(({ fileId }) => (fileId === null ? [] : [{ fileId }]));
  return {
    text: words,
    clientMessageId: newId(),
    // The fragment after the # belongs to the page, and may contain a secret.
    page: { url: firstChars(page.url.split("#")[0] ?? "", 2_048), title: firstChars(clean(page.title), 300) },
    locale,
    ...(attachments.length > 0 && { attachments }),
    ...(wantsPerson && { wantsPerson }),
    ...(contact !== null && Object.keys(contact).length > 0 && { contact }),
  };
}

/** Returns whether a text has more characters than a message may have. */
export function isTooLong(text: string): boolean {
  // Two code units may be one character; only long texts need to be counted.
  return text.length > LIMITS.textMaxChars && Array.from(text).length > LIMITS.textMaxChars;
}

/** Returns the first characters of a text, without splitting one. */
export function firstChars(text: string, count: number): string {
  return text.length <= count ? text : Array.from(text).slice(0, count).join("");
}

/** Removes lone surrogates and NUL, which the server rejects. */
function clean(text: string): string {
  return text.replace(/\p{Cs}|\0/gu, "");
}

/** Sends the messages of an outbox one after the other, each until the server has it. */
interface Sender {
  /** Sends the next message if none is in progress and the connection is up. */
  flush: () => void;
  /** Removes a message that the server has from the outbox. Returns true if it was in progress in this tab. */
  settle: (key: string) => boolean;
  /** Handles a rejected message: permanently with this error, or until `retryAfterSeconds` have passed. */
  refuse: (key: string, error: string, retryAfterSeconds?: number) => void;
  /** Handles a disconnect: unconfirmed messages are sent again after the reconnect. */
  hold: () => void;
}

const ACK_TIMEOUT_MS = 10_000;
/** Maximum attempts for one message over open connections. */
const MOST_TRIES = 5;

/** Creates a sender without pending items. `onFailed` gets the name of the text that says why. */
export function createSender(
  line: Pick<ServerConnection, "isOnline" | "send" | "restart">,
  outbox: Pick<Outbox, "list" | "put" | "remove">,
  onFailed: (key: string, error: string) => void,
): Sender {
  /** The message that waits for its `ack`. */
  let underWay: string | null = null;
  let tries = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function hold(): void {
    clearTimeout(timer);
    underWay = null;
  }

  function settle(key: string): boolean {
    outbox.remove(key);
    if (underWay !== key) return false;
    hold();
    tries = 0;
    return true;
  }

  function flush(): void {
    if (underWay !== null || !line.isOnline()) return;
    const next = outbox.list().find(({ fault: error }) => error === null);
    if (next === undefined) return;
    const key = next.message.clientMessageId;
    underWay = key;
    line.send("message", next.message);
    timer = setTimeout(() => {
      // Nothing was returned over a connection that seemed to be up: another connection may work, and the id prevents a
      // duplicate.
      if (++tries >= MOST_TRIES) fail(key, "faultOther");
      else line.restart();
    }, ACK_TIMEOUT_MS);
  }

  function fail(key: string, error: string): void {
    const item = outbox.list().find(({ message }) => message.clientMessageId === key);
    settle(key);
    if (item !== undefined) outbox.put({ ...item, fault: error });
    onFailed(key, error);
    flush();
  }

  return {
    flush,
    settle,
    refuse(key, error, retryAfterSeconds) {
      if (key !== underWay) return;
      if (retryAfterSeconds === undefined) return fail(key, error);
      // The message itself is valid: it is sent again, before later ones.
      clearTimeout(timer);
      timer = setTimeout(() => {
        hold();
        flush();
      }, retryAfterSeconds * 1_000);
    },
    hold,
  };
}

/** Strings for rejected messages whose code has a more precise one. */
const MESSAGE_ERRORS: Record<string, string> = {
  too_long: "faultTooLong",
  payload_too_large: "faultTooLong",
  rate_limited: "faultTooFast",
  not_found: "faultFileGone",
  storage_full: "faultStorage",
};

type FrameHandlers = { [Type in ServerFrameType]: (frame: Extract<ServerFrame, { type: Type }>) => void };

/** Returns the function that applies a frame of the server to the state. */
// oxlint-disable-next-line max-lines-per-function -- Shared names stay local, so that they minify (size budget).
export function createFrameHandler(
  core: StoreCore,
  line: Pick<ServerConnection, "send">,
  sender: Pick<Sender, "settle" | "refuse" | "flush">,
): (frame: ServerFrame) => void {
  const { cursor, get, set, saveSoon, options } = core;
  const { emit, storage } = options;

  /** Adds an entry with the sequence number `seq`, and records that everything up to there has arrived. */
  function position(entries: Entry[], seq: number, change: Partial<WidgetState>): void {
    if (seq > cursor.askedSeq && hasGap(entries, cursor.sinceSeq, seq)) {
      // Lost on an open connection: a browser repeats an HTTP request by itself, and gets what follows the lost
      // response. Missing entries are requested once; what is still missing then was erased.
      if (!cursor.isAsking) cursor.isAsking = line.send("hello", { sinceSeq: cursor.sinceSeq });
    } else cursor.sinceSeq = Math.max(cursor.sinceSeq, seq);
    set({ ...change, entries });
    saveSoon();
  }

  function takeError({ code, clientMessageId, retryAfterSeconds }: ServerFrameData<"error">): void {
    emit("error", { code });
    if (clientMessageId !== null)
      return sender.refuse(clientMessageId, MESSAGE_ERRORS[code] ?? "faultRefused", retryAfterSeconds);
    if (cursor.pendingRating === null) return;
    // It was not stored, and can be given again.
    cursor.pendingRating = null;
    set({ rating: null });
    saveSoon();
  }

  const handlers: FrameHandlers = {
    ready({ data: { chatId, lastSeq } }) {
      // A new or another conversation: the stored entries do not belong to it.
      if ((cursor.chatId !== null && cursor.chatId !== chatId) || cursor.sinceSeq > lastSeq) {
        core.forget();
        line.send("hello", { sinceSeq: 0 });
      }
      if (cursor.isAsking) cursor.askedSeq = lastSeq;
      cursor.isAsking = false;
      // The server first sends old replies to a browser without any data.
      if (cursor.chatId === null && cursor.sinceSeq === 0) cursor.oldSeq = lastSeq;
      cursor.chatId = chatId;
    },
    reply({ id, seq, data }) {
      const { entries: before } = get();
      const entries = addReply(before, { id, seq, data });
      position(entries, seq, { partial: null });
      if (entries === before || seq <= cursor.oldSeq) return;
      for (const item of data.items)
        emit("message", { id, role: data.author, text: item.type === "message" ? item.text : item.filename });
    },
    message({ seq, data }) {
      if (data.clientMessageId !== null) sender.settle(data.clientMessageId);
      position(addMessage(get().entries, { seq, data }), seq, {});
    },
    ack({ data: { clientMessageId, seq } }) {
      const isOurs = sender.settle(clientMessageId);
      core.changeMessage(clientMessageId, { seq, state: "sent", fault: null });
      saveSoon();
      // The contact was sent with the message, and is not requested again.
      if (isOurs && core.contact() !== null) storage.write("contact", {});
      sender.flush();
    },
    typing: ({ data: { on, name = "" } }) => set({ isTyping: on, typist: name, ...(!on && { partial: null }) }),
    delta: ({ data }) => set({ partial: growPartial(get().partial, data) }),
    status({ data }) {
      if (data.rating === cursor.pendingRating?.score) cursor.pendingRating = null;
      set({ conversation: data.state, rating: cursor.pendingRating?.score ?? data.rating });
      saveSoon();
    },
    error: ({ data }) => takeError(data),
  };

  // A newer server may send frames of other types.
  return (frame) => (handlers[frame.type] as ((frame: ServerFrame) => void) | undefined)?.(frame);
}
