import { errorMessage } from "@svc/primitives";
import { badRequest, BotApiRefusal } from "./read-payload.ts";
import { noteMessage, requireChat, setWebhook } from "./fake-bot.ts";
import type { BotState, SentMessage } from "./fake-bot.ts";
import { parseRichHtml } from "./parse-rich-html.ts";
import { parseTelegramHtml } from "./parse-telegram-html.ts";
import type { TelegramText } from "./parse-telegram-html.ts";
import type { BotPayload, UploadedFile } from "./read-payload.ts";
import type { UpdateRequest } from "./update-queue.ts";

/** A call of a method, without what is the same for all bots. */
export interface MethodCall extends BotPayload {
  /** As called, such as `sendMessage`. */
  method: string;
  bot: BotState;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
  /** Path of a file in the response of `getFile`. */
  filePathOf: (path: string) => string;
  /** A self-hosted server with `--local` has no limit on downloads. */
  isLocal: boolean;
}

type Method = (call: MethodCall) => unknown;

/**
 * Maximum length of a message after parsing its markup, and of a caption. Counted in UTF-16 units, the strictest way.
 */
const TEXT_LIMIT = 4_096;
const CAPTION_LIMIT = 1_024;
const DOWNLOAD_MAX_BYTES = 20_000_000;
const LONGEST_POLL_S = 50;
const MOST_UPDATES = 100;

const CHAT_ACTIONS = new Set(
  "typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker find_location record_video_note upload_video_note".split(
    " ",
  ),
);

const isPicture = (bytes: Buffer) =>
  bytes.subarray(0, 4).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47])) ||
  bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]));

/** The methods that a messaging service needs, by name in lower case: the Bot API ignores case. */
export const BOT_METHODS: Readonly<Record<string, Method>> = {
  getme: ({ bot }) => ({ ...selfOf(bot), can_join_groups: true, can_read_all_group_messages: false }),

  getupdates({ bot, fields, signal }) {
    if (bot.webhookUrl !== "") {
      throw new BotApiRefusal(
        409,
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
      );
    }
    const request: UpdateRequest = {
      offset: readInteger(fields, "offset", 0),
      limit: clamp(readInteger(fields, "limit", MOST_UPDATES), 1, MOST_UPDATES),
      timeoutS: clamp(readInteger(fields, "timeout", 0), 0, LONGEST_POLL_S),
      allowedUpdates: readKinds(fields["allowed_updates"]),
      signal,
    };
    return bot.queue.get(request);
  },

  deletewebhook({ bot, fields }) {
    setWebhook(bot, "");
    if (readBoolean(fields["drop_pending_updates"])) void bot.queue.get(DROP_ALL);
    return true;
  },

  getwebhookinfo: ({ bot }) => ({
    url: bot.webhookUrl,
    has_custom_certificate: false,
    pending_update_count: bot.queue.pending().length,
  }),

  setmycommands({ bot, fields }) {
    const commands = parseJson(fields["commands"]);
    if (!Array.isArray(commands)) throw badRequest("can't parse commands");
    for (const entry of commands) {
      const { command, description } = asRecord(entry);
      if (typeof command !== "string" || !/^[a-z\d_]{1,32}$/.test(command)) throw badRequest("BOT_COMMAND_INVALID");
      if (typeof description !== "string" || description.length < 1 || description.length > 256) {
        throw badRequest("BOT_COMMAND_DESCRIPTION_INVALID");
      }
    }
    bot.commands = commands;
    return true;
  },

  getmycommands: ({ bot }) => bot.commands,

  sendmessage(call) {
    const { fields } = call;
    const source = readText(fields["text"]);
    if (source === "") throw badRequest("message text is empty");
    const { text, entities } = readMarkup(source, fields["parse_mode"]);
    const format = fields["parse_mode"] === undefined ? "plain" : "html";
    if (text === "") throw badRequest("text must be non-empty");
    if (text.length > TEXT_LIMIT) throw badRequest("message is too long");
    return send(call, { text, source, entities, format, tags: [], file: null });
  },

  sendrichmessage(call) {
    const rich = asRecord(parseJson(call.fields["rich_message"]));
    const { html } = rich;
    if (typeof html !== "string") throw badRequest("rich message must have html");
    const { text, tags } = readOr("can't parse entities", () => parseRichHtml(html));
    if (text.trim() === "") throw badRequest("text must be non-empty");
    return send(call, { text, source: html, entities: [], format: "rich", tags, file: null });
  },

  senddocument: (call) => sendFile(call, "document"),

  sendphoto(call) {
    const file = readUpload(call, "photo");
    if (!isPicture(file.bytes)) throw badRequest("IMAGE_PROCESS_FAILED");
    return sendFile(call, "photo");
  },

  sendchataction({ bot, fields }) {
    const chatId = readChatId(fields);
    const action = readText(fields["action"]);
    requireChat(bot, chatId);
    if (!CHAT_ACTIONS.has(action)) throw badRequest("wrong parameter action in request");
    bot.actions.push({ chatId, action, threadId: readThread(bot, chatId, fields), atMs: performance.now() });
    return true;
  },

  async getfile({ bot, fields, filePathOf, isLocal }) {
    const file = bot.files.get(readText(fields["file_id"]));
    if (file === undefined) throw badRequest("invalid file_id");
    if (!isLocal && file.fields.file_size > DOWNLOAD_MAX_BYTES) throw badRequest("file is too big");
    await file.isStored;
    const { file_id, file_unique_id, file_size } = file.fields;
    return { file_id, file_unique_id, file_size, file_path: filePathOf(file.path) };
  },
};

/** Offset that confirms everything. */
const DROP_ALL: UpdateRequest = {
  offset: Number.MAX_SAFE_INTEGER,
  limit: 1,
  timeoutS: 0,
  allowedUpdates: undefined,
  signal: new AbortController().signal,
};

const selfOf = ({ id, username }: BotState) => ({ id, is_bot: true, first_name: "Support bot", username });

function sendFile(call: MethodCall, field: "document" | "photo"): object {
  const { fields } = call;
  const file = readUpload(call, field);
  if (file.bytes.length === 0) throw badRequest("file must be non-empty");
  const source = readText(fields["caption"]);
  const { text, entities } = readMarkup(source, fields["parse_mode"]);
  if (text.length > CAPTION_LIMIT) throw badRequest("message caption is too long");
  const format = fields["parse_mode"] === undefined ? "plain" : "html";
  const sent = send(call, { text, source, entities, format, tags: [], file });
  const fileFields = { file_id: `sent-${sent.message_id}`, file_unique_id: `u${sent.message_id}` };
  return { ...sent, [field]: { ...fileFields, file_size: file.bytes.length, file_name: file.name } };
}

/** Adds a message to its chat, and returns Telegram's response. */
function send(
  { bot, fields, method }: MethodCall,
  content: Pick<SentMessage, "text" | "source" | "format" | "entities" | "tags" | "file">,
) {
  const chatId = readChatId(fields);
  requireChat(bot, chatId);
  const replyTo = readReply(bot, chatId, fields);
  const threadId = readThread(bot, chatId, fields);
  const messageId = bot.nextMessageId++;
  noteMessage(bot, chatId, messageId);
  bot.sent.push({ method, chatId, messageId, replyTo, threadId, atMs: performance.now(), ...content });
  return {
    message_id: messageId,
    from: selfOf(bot),
    chat: { id: Number(chatId), type: chatId.startsWith("-") ? "supergroup" : "private" },
    date: Math.floor(Date.now() / 1_000),
    ...(content.format === "rich" ? {} : { text: content.text }),
  };
}

function readReply(bot: BotState, chatId: string, fields: Record<string, unknown>): number | null {
  const given = parseJson(fields["reply_parameters"]);
  if (given === undefined) return null;
  const { message_id, allow_sending_without_reply } = asRecord(given);
  const messageId = Number(message_id);
  if (!Number.isSafeInteger(messageId)) throw badRequest("can't parse reply parameters: message_id must be a Number");
  if (bot.messageIds.get(chatId)?.has(messageId) === true) return messageId;
  if (allow_sending_without_reply === true) return null;
  throw badRequest("message to be replied not found");
}

function readThread(bot: BotState, chatId: string, fields: Record<string, unknown>): number | null {
  const given = fields["message_thread_id"];
  if (given === undefined) return null;
  const threadId = Number(given);
  if (bot.threadIds.get(chatId)?.has(threadId) !== true) throw badRequest("message thread not found");
  return threadId;
}

function readUpload({ fields, files }: MethodCall, name: string): UploadedFile {
  const named = readText(fields[name]);
  const file = files.get(named.startsWith("attach://") ? named.slice("attach://".length) : name);
  if (file === undefined) throw badRequest(`there is no ${name} in the request`);
  return file;
}

function readChatId(fields: Record<string, unknown>): string {
  const chatId = readText(fields["chat_id"]);
  if (chatId === "") throw badRequest("chat_id is empty");
  if (!/^-?\d{1,16}$/.test(chatId)) throw badRequest("chat not found");
  return chatId;
}

/** Returns a text as Telegram stores it: parsed, without control characters, and trimmed. */
function readMarkup(source: string, parseMode: unknown): TelegramText {
  if (parseMode !== undefined && !/^html$/i.test(readText(parseMode))) throw badRequest("unsupported parse_mode");
  const read =
    parseMode === undefined
      ? { text: source, entities: [] }
      : readOr("can't parse entities", () => parseTelegramHtml(source));
  if (!read.text.isWellFormed()) throw badRequest("strings must be encoded in UTF-8");
  if (read.text.trim() === "") return { text: "", entities: [] };
  // Text is trimmed at its end; leading white space before markup is kept.
  return { text: read.text.trimEnd(), entities: read.entities };
}

function readOr<Read>(problem: string, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    throw badRequest(`${problem}: ${errorMessage(error)}`);
  }
}

const readText = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

const readBoolean = (value: unknown): boolean => value === true || value === "true" || value === "True";

function readInteger(fields: Record<string, unknown>, name: string, otherwise: number): number {
  const value = Number.parseInt(readText(fields[name]), 10);
  return Number.isSafeInteger(value) ? value : otherwise;
}

const clamp = (value: number, least: number, most: number) => Math.min(Math.max(value, least), most);

function readKinds(value: unknown): string[] | undefined {
  const kinds = parseJson(value);
  return Array.isArray(kinds) ? kinds.filter((kind) => typeof kind === "string") : undefined;
}

/** Forms contain objects as JSON. */
function parseJson(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    throw badRequest("can't parse JSON object");
  }
}

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? { ...value } : {};
