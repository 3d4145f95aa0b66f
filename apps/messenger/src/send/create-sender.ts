import type { Channel, OutgoingAttachment, ReplyContext } from "@svc/contracts";
import type { Log } from "@svc/log";
import { BotApiError } from "../telegram/bot-api.ts";
import type { BotApi } from "../telegram/bot-api.ts";
import { composeMessage } from "./compose-message.ts";
import type { ComposedMessage } from "./compose-message.ts";
import { createChatCaller, deliveryErrorOf } from "./create-chat-caller.ts";
import type { SendCall, SendInChat, Sending } from "./create-chat-caller.ts";
import { createThrottle, findTarget, isGroup } from "./create-throttle.ts";
import type { Position, TargetStore, Throttle } from "./create-throttle.ts";
import { renderHtml } from "./render-html.ts";
import type { StyledText } from "./styled-text.ts";

/** Telegram shows "typing" for five seconds. It is repeated for at most one minute. */
const TYPING_TIMES = { againMs: 4_500, longestMs: 60_000 };

/** Shows "typing" in chats until the reply is sent. */
export interface Typing {
  /** Starts when a message of the chat is being answered. */
  begin: (chatId: string, threadId: number | null) => void;
  /** Ends for a sent reply. `inReplyTo` is the message that it answers; null, as for a person's reply, ends all. */
  end: (chatId: string, inReplyTo: string | null) => void;
  stop: () => void;
}

interface TypingChat {
  threadId: number | null;
  /** Time at which each unanswered message stops showing "typing", the oldest first. */
  waitsUntil: number[];
  lastAnswered: string | null;
  timer: NodeJS.Timeout | undefined;
}

/** Dependencies of the typing indicators. */
interface TypingContext {
  api: BotApi;
  throttle: Pick<Throttle, "isPaused" | "pause">;
  log: Log;
}

/** Shows "typing" once. Returns false if the chat does not accept it. */
async function showTyping(
  { api, throttle, log }: TypingContext,
  chatId: string,
  threadId: number | null,
  { signal, againMs }: { signal: AbortSignal; againMs: number },
): Promise<boolean> {
  const thread = threadId === null ? {} : { message_thread_id: threadId };
  const payload = { chat_id: chatId, action: "typing", ...thread };
  try {
    if (!throttle.isPaused(chatId)) await api.call("sendChatAction", payload, { signal });
    return true;
  } catch (error) {
    if (!(error instanceof BotApiError)) throw error;
    log.debug({ code: error.code, description: error.description }, "failed to show the typing indicator");
    if (error.kind === "too_many") throttle.pause(chatId, error.retryAfterMs ?? againMs);
    return error.kind === "too_many" || error.kind === "unreachable";
  }
}

/** Returns the typing indicators of a bot. Their errors are logged and affect nothing else. */
export function createTyping({
  times = TYPING_TIMES,
  now = () => performance.now(),
  ...context
}: TypingContext & { times?: typeof TYPING_TIMES; now?: () => number }): Typing {
  const chats = new Map<string, TypingChat>();
  const stopping = new AbortController();

  function forget(chatId: string): void {
    clearTimeout(chats.get(chatId)?.timer);
    chats.delete(chatId);
  }

  function again(chatId: string, chat: TypingChat): void {
    chat.waitsUntil = chat.waitsUntil.filter((until) => until > now());
    if (chat.waitsUntil.length === 0) {
      forget(chatId);
      return;
    }
    chat.timer = setTimeout(() => again(chatId, chat), times.againMs);
    showTyping(context, chatId, chat.threadId, { signal: stopping.signal, againMs: times.againMs })
      .then((isAccepted) => {
        if (!isAccepted && chats.get(chatId) === chat) forget(chatId);
      })
      .catch((error: unknown) => context.log.warn({ error }, "failed to show the typing indicator"));
  }

  return {
    begin(chatId, threadId) {
      if (stopping.signal.aborted) return;
      const known = chats.get(chatId);
      const chat = known ?? { threadId, waitsUntil: [], lastAnswered: null, timer: undefined };
      chat.threadId = threadId;
      chat.waitsUntil.push(now() + times.longestMs);
      if (known !== undefined) return;
      chats.set(chatId, chat);
      again(chatId, chat);
    },
    end(chatId, inReplyTo) {
      const chat = chats.get(chatId);
      if (chat === undefined) return;
      // The first of several replies to a message counts.
      if (inReplyTo !== null && inReplyTo !== chat.lastAnswered) chat.waitsUntil.shift();
      chat.lastAnswered = inReplyTo;
      if (inReplyTo === null || chat.waitsUntil.length === 0) forget(chatId);
    },
    stop() {
      stopping.abort();
      for (const chatId of chats.keys()) forget(chatId);
    },
  };
}

/**
 * Upload limit of bots (https://core.telegram.org/bots/api#sending-files), in bytes, less the overhead of the form.
 */
const DOCUMENT_LIMIT_BYTES = 49_990_000;
const PHOTO_LIMIT_BYTES = 10_000_000;

/** Types that Telegram shows as a picture. Other types are files. */
const PHOTO_TYPES = new Set(["image/jpeg", "image/png", "image/webp"]);

/** 50 MB over a slow connection. */
const UPLOAD_TIMEOUT_MS = 180_000;

/**
 * Returns the ways to send a file, the best one first: a picture as a picture, and any file as a document. Empty for
 * a file that Telegram does not accept; `explainRefusedFile` returns the reason.
 */
function fileSendings({ filename, mime, content }: OutgoingAttachment): Sending[] {
  if (content.length === 0 || content.length > DOCUMENT_LIMIT_BYTES) return [];
  const file = { source: content, filename: headerSafe(filename) };
  const document: Sending = { method: "sendDocument", payload: { document: file }, timeoutMs: UPLOAD_TIMEOUT_MS };
  if (!PHOTO_TYPES.has(mime.toLowerCase()) || content.length > PHOTO_LIMIT_BYTES) return [document];
  return [{ method: "sendPhoto", payload: { photo: file }, timeoutMs: UPLOAD_TIMEOUT_MS }, document];
}

/** Text sent to the chat instead of a file that Telegram rejects. */
function explainRefusedFile({ filename, content }: OutgoingAttachment): string {
  if (content.length === 0) return `The file “${filename}” is empty.`;
  const megabytes = (content.length / 1_000_000).toFixed(1);
  return `The file “${filename}” (${megabytes} MB) is too large: Telegram takes files of up to 50 MB.`;
}

/** Removes characters that would end the quoted name in the form's header. */
function headerSafe(filename: string): string {
  const safe = filename
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .replaceAll('"', "'")
    .replaceAll(/[\\/]/g, "_")
    .trim();
  return safe === "" ? "file" : safe;
}

/** Sends to the chats of one bot. Every function rejects with `DeliveryError`. */
export interface Sender extends Required<Pick<Channel, "sendMessage" | "sendAttachment" | "markTyping">> {
  /** Sends a text that is not a reply of the pipeline, such as the greeting. */
  say: (
    chatId: string,
    text: string,
    to: { threadId: number | null; replyToMessageId: number | null; signal?: AbortSignal },
  ) => Promise<void>;
  /** Ends "typing" and rejects waiting messages; messages in flight get two seconds. */
  stop: () => Promise<void>;
}

/** A server without rich messages is tried again after this time: it may have been upgraded. */
const RICH_AGAIN_MS = 6 * 3_600_000;

/** No link previews: that of the first source would fill the screen. */
const NO_PREVIEW = { link_preview_options: { is_disabled: true } };

type Context = Partial<Pick<ReplyContext, "inReplyTo" | "sentParts" | "recordSentParts" | "signal">>;

/** Returns the functions that send texts, and files in one of several forms, to the chats of a bot. */
function createFormSender(sendInChat: SendInChat, log: Log) {
  let lacksRichUntil = 0;

  async function sendRich(
    target: Position,
    rich: NonNullable<ComposedMessage["rich"]>,
    call: SendCall,
  ): Promise<boolean> {
    if (performance.now() < lacksRichUntil) return false;
    try {
      await sendInChat(target, { method: "sendRichMessage", payload: { rich_message: rich } }, call);
      return true;
    } catch (error) {
      if (!(error instanceof BotApiError)) throw error;
      if (isUnknownMethod(error)) lacksRichUntil = performance.now() + RICH_AGAIN_MS;
      else log.warn({ code: error.code, description: error.description }, "Telegram rejected a rich message");
      return false;
    }
  }

  /** Sends the first form that Telegram accepts. Returns the last error if it accepts none, else null. */
  async function sendAny(target: Position, sendings: readonly Sending[], call: SendCall): Promise<BotApiError | null> {
    let refusal: BotApiError | null = null;
    for (const sending of sendings) {
      try {
        await sendInChat(target, sending, call);
        return null;
      } catch (error) {
        if (!(error instanceof BotApiError)) throw error;
        log.warn(
          { method: sending.method, code: error.code, description: error.description },
          "Telegram rejected the request",
        );
        refusal = error;
      }
    }
    return refusal;
  }

  async function sendText(target: Position, text: string, isMarkdown: boolean, context: Context): Promise<void> {
    const { rich, parts } = composeMessage(text, isMarkdown, log);
    const { sentParts = 0, signal } = context;
    const callFor = (sent: number): SendCall => ({
      signal,
      note: () => context.recordSentParts?.(sent) ?? Promise.resolve(),
    });
    // Parts are counted in ordinary messages: a text that was begun in them continues in them.
    const all = callFor(Math.max(1, parts.length));
    if (sentParts === 0 && rich !== null && (await sendRich(target, rich, all))) return;
    for (const [index, part] of parts.entries()) {
      if (index < sentParts) continue;
      // The first message quotes what it answers; the others follow it.
      const partTarget = index === 0 ? target : { ...target, replyToMessageId: null };
      const refusal = await sendAny(partTarget, textSendings(part), callFor(index + 1));
      if (refusal !== null) throw deliveryErrorOf(refusal);
    }
    if (parts.length === 0) log.debug("a reply has no visible content and is not sent");
  }

  return { sendAny, sendText };
}

/**
 * Creates the sender of one bot. A text is sent as a rich message if that shows more and the server supports them,
 * otherwise as HTML, otherwise as plain text, so that it always arrives. A long text is sent in parts, and each sent
 * part is recorded.
 */
export function createSender({
  api,
  store,
  log,
  throttle = createThrottle(),
}: {
  api: BotApi;
  store: TargetStore;
  log: Log;
  throttle?: Throttle;
}): Sender {
  const stopping = new AbortController();
  const sendInChat = createChatCaller({ api, throttle, log }, stopping.signal);
  const { sendAny, sendText } = createFormSender(sendInChat, log);
  const typing = createTyping({ api, throttle, log });

  return {
    async sendMessage(chatId, text, metadata = {}) {
      const target = await findTarget(store, chatId, metadata);
      await sendText(target, text, metadata.markdown ?? false, metadata);
      typing.end(chatId, metadata.inReplyTo ?? null);
    },
    async sendAttachment(chatId, attachment, context) {
      if ((context?.sentParts ?? 0) > 0) return;
      // The preceding text already quotes the answered message.
      const target = { ...(await findTarget(store, chatId, context ?? {})), replyToMessageId: null };
      const sendings = fileSendings(attachment);
      const refusal = await sendAny(target, sendings, {
        signal: context?.signal,
        note: () => context?.recordSentParts?.(1) ?? Promise.resolve(),
      });
      if (refusal !== null && refusal.kind !== "too_large") throw deliveryErrorOf(refusal);
      if (refusal === null && sendings.length > 0) return;
      await sendText(target, explainRefusedFile(attachment), false, context ?? {});
    },
    async markTyping(chatId, context) {
      const threadId = isGroup(chatId) ? (await findTarget(store, chatId, context ?? {})).threadId : null;
      typing.begin(chatId, threadId);
    },
    async say(chatId, text, { threadId, replyToMessageId, signal }) {
      await sendText({ chatId, threadId, replyToMessageId }, text, false, signal === undefined ? {} : { signal });
    },
    async stop() {
      stopping.abort();
      typing.stop();
      await throttle.stop();
    },
  };
}

const isUnknownMethod = ({ code, description }: BotApiError): boolean =>
  code === 404 || /method not found|unknown method/i.test(description);

/** Returns the forms of one part: formatted, and as plain text. */
function textSendings(part: StyledText): Sending[] {
  const plain: Sending = { method: "sendMessage", payload: { text: part.text, ...NO_PREVIEW } };
  const html = renderHtml(part);
  if (!html.includes("<")) return [plain];
  return [{ method: "sendMessage", payload: { text: html, parse_mode: "HTML", ...NO_PREVIEW } }, plain];
}
