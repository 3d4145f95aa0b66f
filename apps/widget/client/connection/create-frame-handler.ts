import type { ServerFrame, ServerFrameData, ServerFrameType } from "@svc/contracts";
import type { Entry, WidgetState } from "../state.ts";
import { addMessage, addReply, growPartial, hasGap } from "./conversation.ts";
import type { Sender } from "./create-sender.ts";
import type { ServerConnection } from "./open-connection.ts";
import type { StoreCore } from "./store-core.ts";

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
