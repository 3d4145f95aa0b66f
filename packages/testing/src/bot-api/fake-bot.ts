import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BotApiRefusal, badRequest } from "./read-payload.ts";
import type { TelegramEntity } from "./parse-telegram-html.ts";
import type { UploadedFile } from "./read-payload.ts";
import type { Sending, BotUpdate, UpdateQueue } from "./update-queue.ts";
import { createUpdateQueue } from "./update-queue.ts";

/** Reason why a chat accepts no messages from a bot. */
export type ChatFailure = "blocked" | "kicked" | "deactivated" | "not-found" | { migratedTo: number };

/** A message that a bot has sent. */
export interface SentMessage extends Sending {
  /** As called, such as `sendMessage`. */
  method: string;
  messageId: number;
  /** The displayed text: without markup, or the caption of a file. */
  text: string;
  /** The text as sent, with its markup. */
  source: string;
  /** `plain`, `html`, or `rich` for `sendRichMessage`. */
  format: "plain" | "html" | "rich";
  entities: TelegramEntity[];
  /** The tags of a rich message, with repetitions. */
  tags: string[];
  /** The message that it replies to. */
  replyTo: number | null;
  threadId: number | null;
  file: UploadedFile | null;
}

/** A `sendChatAction`. */
export interface SentAction extends Sending {
  action: string;
  threadId: number | null;
}

/** A message to a bot. */
export interface WrittenMessage {
  /** Default 4001, the private chat with user 4001. Negative ids are groups. */
  chatId?: number;
  /** Default: the chat's id in a private chat, 4001 in a group. */
  userId?: number;
  /** Further fields of the message: `text`, `caption`, `document` and so on. */
  [field: string]: unknown;
}

/** A file to send to a bot. */
export interface OfferedFile {
  bytes: Buffer;
  name?: string;
  type?: string;
  /** Size that the Bot API reports. Default: its real size. */
  sizeBytes?: number;
}

/** Fields of a message about a file (https://core.telegram.org/bots/api#document). */
export interface FileFields {
  file_id: string;
  file_unique_id: string;
  file_size: number;
  file_name?: string;
  mime_type?: string;
}

/** A bot as Telegram sees it, with controls for tests. */
export interface FakeBot {
  readonly id: number;
  readonly token: string;
  /** Without the @. */
  readonly username: string;
  /**
   * Adds an update to its queue, with a new id by default; kinds that were not requested are dropped unless
   * `isUnasked`.
   */
  push: (update: object, options?: { updateId?: number; isUnasked?: boolean }) => number;
  /** Adds many at once, so that they arrive as one batch. */
  pushAll: (updates: readonly object[]) => number[];
  /** Creates an update with a message in Telegram's format, without adding it. */
  message: (message: WrittenMessage) => { message: Record<string, unknown> };
  /** Sends a message to the bot; returns the ids of the message and its update. */
  write: (message: WrittenMessage) => { updateId: number; messageId: number };
  /** Stores a file for `getFile` and returns its fields for a message. */
  offerFile: (file: OfferedFile) => FileFields;
  /** All messages that were accepted, oldest first. */
  readonly sent: readonly SentMessage[];
  sentTo: (chatId: number) => SentMessage[];
  readonly actions: readonly SentAction[];
  /** Updates that the poller has not confirmed. */
  pending: () => BotUpdate[];
  /** True while a poller waits. */
  isPolled: () => boolean;
  /** Revokes or restores the token, like @BotFather's /revoke. */
  setRevoked: (isRevoked: boolean) => void;
  /** Sets whether, and why, a chat accepts no messages. */
  setChatFailure: (chatId: number, error: ChatFailure | null) => void;
  /** Sets a webhook, like another program: polls get 409 until it is deleted; "" deletes it. */
  setWebhook: (url: string) => void;
  /** The latest argument of `setMyCommands`. */
  readonly commands: readonly unknown[];
}

/** A stored file of a bot. */
export interface StoredFile {
  fields: FileFields;
  /** Relative to the folder of the bot. */
  path: string;
  bytes: Buffer;
  /** Resolves once a local server has it on its disk. */
  isStored: Promise<void>;
}

/** State that the methods of the API use. */
export interface BotState {
  id: number;
  token: string;
  username: string;
  isRevoked: boolean;
  webhookUrl: string;
  commands: unknown[];
  queue: UpdateQueue;
  sent: SentMessage[];
  actions: SentAction[];
  files: Map<string, StoredFile>;
  chatFailures: Map<string, ChatFailure>;
  /** Message ids by chat, including those of other senders. */
  messageIds: Map<string, Set<number>>;
  threadIds: Map<string, Set<number>>;
  nextMessageId: number;
}

/** Arbitrary first id. */
const FIRST_UPDATE_ID = 731_000_000;
const DEFAULT_USER_ID = 4_001;
const REFUSAL_OF_CHAT: Readonly<Record<Extract<ChatFailure, string>, () => BotApiRefusal>> = {
  blocked: () => new BotApiRefusal(403, "Forbidden: bot was blocked by the user"),
  kicked: () => new BotApiRefusal(403, "Forbidden: bot was kicked from the supergroup chat"),
  deactivated: () => new BotApiRefusal(403, "Forbidden: user is deactivated"),
  "not-found": () => badRequest("chat not found"),
};

/** @throws BotApiRefusal if the chat accepts no messages. */
export function requireChat(bot: BotState, chatId: string): void {
  const error = bot.chatFailures.get(chatId);
  if (error === undefined) return;
  if (typeof error === "string") throw REFUSAL_OF_CHAT[error]();
  throw new BotApiRefusal(400, "Bad Request: group chat was upgraded to a supergroup chat", {
    migrate_to_chat_id: error.migratedTo,
  });
}

/** Records a message of a chat, so that it can be replied to. */
export function noteMessage(bot: BotState, chatId: string, messageId: number): void {
  const known = bot.messageIds.get(chatId) ?? new Set<number>();
  bot.messageIds.set(chatId, known.add(messageId));
}

const chatOf = (chatId: number) =>
  chatId > 0
    ? { id: chatId, type: "private", first_name: `User ${chatId}`, username: `user_${chatId}` }
    : { id: chatId, type: "supergroup", title: `Group ${-chatId}` };

/** Returns a token in Telegram's format that has never been a real one. */
export const newToken = (id: number): string => `${id}:${randomBytes(26).toString("hex").slice(0, 35)}`;

/** Creates a bot. With `diskFolder`, its files are stored there, in a folder named after its token. */
export function createFakeBot(
  options: { id: number; token: string; username: string },
  diskFolder: string | null,
): { bot: FakeBot; state: BotState } {
  const state: BotState = {
    ...options,
    isRevoked: false,
    webhookUrl: "",
    commands: [],
    queue: createUpdateQueue(),
    sent: [],
    actions: [],
    files: new Map(),
    chatFailures: new Map(),
    messageIds: new Map(),
    threadIds: new Map(),
    nextMessageId: 1,
  };
  let nextUpdateId = FIRST_UPDATE_ID;

  function prepare(update: object, chosenId: number | undefined): BotUpdate {
    noteWritten(state, update);
    const updateId = chosenId ?? nextUpdateId;
    nextUpdateId = Math.max(nextUpdateId, updateId + 1);
    return { update_id: updateId, ...update };
  }

  function message(written: WrittenMessage): { message: Record<string, unknown> } {
    const { chatId = DEFAULT_USER_ID, userId = chatId > 0 ? chatId : DEFAULT_USER_ID, ...fields } = written;
    const from = {
      id: userId,
      is_bot: false,
      first_name: `User ${userId}`,
      username: `user_${userId}`,
      language_code: "en",
    };
    const date = Math.floor(Date.now() / 1_000);
    return { message: { message_id: state.nextMessageId++, from, chat: chatOf(chatId), date, ...fields } };
  }

  const push: FakeBot["push"] = (update, { updateId, isUnasked = false } = {}) => {
    const ready = prepare(update, updateId);
    state.queue.push([ready], { isUnasked });
    return ready.update_id;
  };

  const bot: FakeBot = {
    id: state.id,
    token: state.token,
    username: state.username,
    push,
    pushAll(updates) {
      const ready = updates.map((update) => prepare(update, undefined));
      state.queue.push(ready, { isUnasked: true });
      return ready.map(({ update_id }) => update_id);
    },
    message,
    write(written) {
      const update = message(written);
      return { updateId: push(update), messageId: Number(update.message["message_id"]) };
    },
    offerFile({ bytes, name, type, sizeBytes = bytes.length }) {
      const id = randomBytes(24).toString("base64url");
      const fields: FileFields = {
        file_id: id,
        file_unique_id: id.slice(0, 16),
        file_size: sizeBytes,
        ...(name === undefined ? {} : { file_name: name }),
        ...(type === undefined ? {} : { mime_type: type }),
      };
      const extension = /\.[a-z\d]{1,8}$/i.exec(name ?? "")?.[0] ?? "";
      const path = `documents/file_${state.files.size}${extension}`;
      const isStored = diskFolder === null ? Promise.resolve() : store(join(diskFolder, state.token, path), bytes);
      // A request for the file gets the error that it could not be stored.
      isStored.catch(() => undefined);
      state.files.set(id, { fields, path, bytes, isStored });
      return fields;
    },
    sent: state.sent,
    sentTo: (chatId) => state.sent.filter((message) => message.chatId === String(chatId)),
    actions: state.actions,
    pending: () => state.queue.pending(),
    isPolled: () => state.queue.isPolled(),
    setRevoked(isRevoked) {
      state.isRevoked = isRevoked;
      if (isRevoked) state.queue.endPoll(new BotApiRefusal(401, "Unauthorized"));
    },
    setChatFailure(chatId, error) {
      if (error === null) state.chatFailures.delete(String(chatId));
      else state.chatFailures.set(String(chatId), error);
    },
    setWebhook: (url) => setWebhook(state, url),
    get commands() {
      return state.commands;
    },
  };
  return { bot, state };
}

/** Sets or, with "", deletes the webhook; setting it ends a waiting poll. */
export function setWebhook(state: BotState, url: string): void {
  state.webhookUrl = url;
  if (url !== "") state.queue.endPoll(new BotApiRefusal(409, "Conflict: terminated by setWebhook request"));
}

async function store(path: string, bytes: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes);
}

/** Records the messages of an update that can be replied to; the update may be invalid. */
function noteWritten(state: BotState, update: object): void {
  for (const content of Object.values(update)) {
    const { chat, message_id, message_thread_id } = asRecord(content);
    const chatId = asRecord(chat)["id"];
    if (typeof chatId !== "number") continue;
    if (typeof message_id === "number") {
      noteMessage(state, String(chatId), message_id);
      if (Number.isSafeInteger(message_id)) state.nextMessageId = Math.max(state.nextMessageId, message_id + 1);
    }
    if (typeof message_thread_id === "number") {
      const known = state.threadIds.get(String(chatId)) ?? new Set<number>();
      state.threadIds.set(String(chatId), known.add(message_thread_id));
    }
  }
}

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? { ...value } : {};
