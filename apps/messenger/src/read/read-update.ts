import { LIMITS, isVisible } from "@svc/contracts";
import { cleanLine, cleanText, ownTexts, updateSchema } from "./update-schema.ts";
import type { Bot, Content, Entity, RepliedMessage, TelegramMessage } from "./update-schema.ts";
import { listFiles } from "./store-files.ts";
import type { WantedFile } from "./store-files.ts";

const PART_CHARS = 300;
/** Maximum number of options of a poll in Telegram. */
const MAX_OPTIONS = 12;

function line(kind: string, ...parts: (string | undefined)[]): string {
  const said = parts.map((part) => cleanLine(part ?? "", PART_CHARS)).filter((part) => part !== "");
  return said.length === 0 ? `[${kind}]` : `[${kind}: ${said.join(", ")}]`;
}

const nameOf = (first = "", last = "") => `${first} ${last}`.trim();
const coordinatesOf = ({ latitude, longitude }: { latitude: number; longitude: number }) => `${latitude} ${longitude}`;

/** Content of a message other than text and files, as a line of text. The first match counts. */
const DESCRIPTIONS: readonly ((content: Content) => string | undefined)[] = [
  // A venue also has a location.
  ({ venue }) => venue && line("Place", venue.title, venue.address, coordinatesOf(venue.location)),
  ({ location }) => location && line("Location", coordinatesOf(location)),
  ({ contact }) => contact && line("Contact", nameOf(contact.first_name, contact.last_name), contact.phone_number),
  ({ sticker }) => sticker && line("Sticker", sticker.emoji),
  ({ poll }) => poll && line("Poll", poll.question, ...poll.options.slice(0, MAX_OPTIONS).map(({ text }) => text)),
  ({ dice }) => dice && line("Dice", dice.emoji, dice.value?.toString()),
  ({ checklist }) => checklist && line("Checklist", checklist.title),
  ({ game }) => game && line("Game", game.title),
  ({ story }) => story && line("Story"),
  ({ paid_media: media }) => media && line("Paid media"),
];

/** Returns a line for content other than text and files, such as `[Location: 48.1 11.5]`; null if there is none. */
function describeContent(content: Content): string | null {
  for (const describe of DESCRIPTIONS) {
    const said = describe(content);
    if (said !== undefined) return said;
  }
  return null;
}

/** A text with its entities. */
interface MarkedText {
  text: string;
  entities: readonly Entity[];
}

/** Returns the part of the text that an entity marks; null if it is outside the text or empty. */
function markedPart(text: string, { offset, length }: Entity): string | null {
  if (offset < 0 || length <= 0 || offset + length > text.length) return null;
  return text.slice(offset, offset + length);
}

/** Returns true for an entity that addresses the bot: its name, a mention, or a command with its name. */
function addressesBot(text: string, entity: Entity, bot: Bot): boolean {
  if (entity.type === "text_mention") return entity.user?.id === bot.id;
  if (bot.username === undefined) return false;
  const part = markedPart(text, entity)?.toLowerCase();
  const name = `@${bot.username.toLowerCase()}`;
  if (entity.type === "mention") return part === name;
  return entity.type === "bot_command" && part?.endsWith(name) === true;
}

/** Returns true if a text addresses the bot. */
function mentionsBot({ text, entities }: MarkedText, bot: Bot): boolean {
  return entities.some((entity) => addressesBot(text, entity, bot));
}

/**
 * Returns the command at the beginning of a text, without slash and bot name; null without one, or if it is for
 * another bot.
 */
function readCommand({ text, entities }: MarkedText, bot: Bot): string | null {
  const entity = entities.find(({ type, offset }) => type === "bot_command" && offset === 0);
  const part = entity === undefined ? null : markedPart(text, entity);
  if (part === null) return null;
  const [name = "", to] = part.slice(1).toLowerCase().split("@");
  return to === undefined || to === bot.username?.toLowerCase() ? name : null;
}

/**
 * Returns a text as plain text, with the URL of each link after its words. The bot's own name is removed, since it is
 * not part of the question.
 */
function plainText({ text, entities }: MarkedText, bot: Bot): string {
  const changes = entities.flatMap((entity) => {
    const part = markedPart(text, entity);
    if (part === null) return [];
    const { offset, length } = entity;
    if (entity.type === "text_link" && entity.url !== undefined && !part.includes(entity.url)) {
      return [{ from: offset + length, to: offset + length, by: ` (${entity.url})` }];
    }
    const isName = entity.type === "mention" || entity.type === "text_mention";
    return isName && addressesBot(text, entity, bot) ? [{ from: offset, to: offset + length, by: "" }] : [];
  });
  changes.sort((one, other) => one.from - other.from || one.to - other.to);
  let result = "";
  let at = 0;
  for (const { from, to, by } of changes) {
    // Entities may overlap; what is already removed is not removed twice.
    if (from < at) continue;
    result += text.slice(at, from) + by;
    at = to;
  }
  return (result + text.slice(at)).trim();
}

/** Telegram's metadata of a message, stored as `channelMeta.telegram`. */
interface TelegramMeta {
  messageId: number;
  chatType: string;
  chatTitle?: string;
  threadId?: number;
  from: { name: string; username?: string; languageCode?: string };
  replyTo?: { messageId: number; text?: string };
  /** ID of the message that a correction edits, which is the same message. */
  edits?: number;
  /** The other parts of an album. */
  albumMessageIds?: number[];
}

/** Destination of a reply of the bot itself. */
export interface AnswerTarget {
  chatId: string;
  threadId: number | null;
  /** Set only in groups, where a reply must name its recipient. */
  replyToMessageId: number | null;
}

/** What the service makes of an update. */
export type Reading =
  | { kind: "ignored" }
  | { kind: "command"; command: "start" | "help"; target: AnswerTarget; languageCode: string | undefined }
  | {
      kind: "message";
      userId: string | null;
      text: string;
      timestampMs: number;
      telegram: TelegramMeta;
      files: WantedFile[];
      /** For an edited message: its ID, and its text with a prefix that marks the correction. */
      correction: { messageId: number; text: string } | null;
    };

const IGNORED: Reading = { kind: "ignored" };
const OWN_COMMANDS = ["start", "help"] as const;
const GROUPS: readonly string[] = ["group", "supergroup"];
const CHAT_TYPES: readonly string[] = ["private", ...GROUPS];

const NAME_CHARS = 200;
/** Maximum number of quoted characters of a replied-to message. */
const QUOTE_CHARS = 500;
const EXCERPT_CHARS = 200;
/** Leaves room for quotes and lines about files that could not be stored. */
const TEXT_MAX_CHARS = LIMITS.textMaxChars - 2_000;

function markedText(content: Content): MarkedText {
  if (content.text !== undefined) return { text: content.text, entities: content.entities ?? [] };
  return { text: content.caption ?? "", entities: content.caption_entities ?? [] };
}

/** Returns the message of an update, and whether it was edited; null for updates of another kind. */
function messageOf(update: unknown): { message: TelegramMessage; isEdit: boolean } | null {
  const parsed = updateSchema.safeParse(update);
  if (!parsed.success) return null;
  const { message, edited_message: edited } = parsed.data;
  if (message !== undefined) return { message, isEdit: false };
  return edited === undefined ? null : { message: edited, isEdit: true };
}

/** Returns what is needed to store an update before it is read: its chat, sender, beginning and album. */
export function readOrigin(
  update: unknown,
): { chatId: string; userId: string | null; excerpt: string; albumId: string | null } | null {
  const found = messageOf(update);
  if (found === null || !CHAT_TYPES.includes(found.message.chat.type)) return null;
  const { message, isEdit } = found;
  return {
    chatId: String(message.chat.id),
    userId: userIdOf(message),
    excerpt: cleanText(markedText(message).text, EXCERPT_CHARS),
    albumId: isEdit || message.media_group_id === undefined ? null : cleanLine(message.media_group_id, EXCERPT_CHARS),
  };
}

/** Returns the ID of the sender: a person, or the chat on whose behalf a person writes; null if neither is known. */
function userIdOf({ from, sender_chat: sender }: TelegramMessage): string | null {
  if (sender !== undefined) return String(sender.id);
  return from === undefined ? null : String(from.id);
}

/**
 * Returns true for a reply to the bot. A message in a topic refers to the message that opened the topic, which is not
 * a reply.
 */
function repliesToBot({ reply_to_message: replied }: TelegramMessage, bot: Bot): boolean {
  return replied?.from?.id === bot.id && replied.forum_topic_created === undefined;
}

/**
 * Returns the quote that precedes the message: what its sender selected, or in a group the message that the bot is
 * asked about.
 */
function quoteOf(message: TelegramMessage, bot: Bot, isGroup: boolean): string {
  const { reply_to_message: replied, quote } = message;
  if (replied === undefined || replied.forum_topic_created !== undefined) return "";
  const isByHand = quote?.is_manual === true;
  if (!isByHand && (!isGroup || replied.from?.id === bot.id)) return "";
  return cleanText((isByHand ? quote.text : textOfReplied(replied)).trim(), QUOTE_CHARS);
}

function textOfReplied(replied: RepliedMessage): string {
  const { text } = markedText(replied);
  return text === "" ? (describeContent(replied) ?? "") : text;
}

const asQuote = (text: string) => text.replace(/^/gm, "> ");

function metaOf(messages: readonly TelegramMessage[], first: TelegramMessage): TelegramMeta {
  const { chat, from, sender_chat: sender, reply_to_message: replied, message_thread_id: threadId } = first;
  const name = sender?.title ?? `${from?.first_name ?? ""} ${from?.last_name ?? ""}`;
  const excerpt = replied === undefined ? "" : cleanText(textOfReplied(replied).trim(), EXCERPT_CHARS);
  const others = messages.slice(1).map(({ message_id: id }) => id);
  return {
    messageId: first.message_id,
    chatType: cleanLine(chat.type, EXCERPT_CHARS),
    ...(chat.title === undefined ? {} : { chatTitle: cleanLine(chat.title, NAME_CHARS) }),
    ...(threadId === undefined || first.is_topic_message !== true ? {} : { threadId }),
    from: {
      name: cleanLine(name, NAME_CHARS),
      ...(from?.username === undefined ? {} : { username: cleanLine(from.username, NAME_CHARS) }),
      ...(from?.language_code === undefined ? {} : { languageCode: cleanLine(from.language_code, 35) }),
    },
    ...(replied === undefined || replied.forum_topic_created !== undefined
      ? {}
      : { replyTo: { messageId: replied.message_id, ...(excerpt === "" ? {} : { text: excerpt }) } }),
    ...(others.length === 0 ? {} : { albumMessageIds: others }),
  };
}

/** Returns the content of one message: its text, and a line for content of other kinds. */
function textOfMessage(message: TelegramMessage, bot: Bot): string {
  const described = describeContent(message);
  const text = plainText(markedText(message), bot);
  return [text, ...(described === null ? [] : [described])].filter((part) => part !== "").join("\n");
}

/** Returns true for messages that have no person to reply to: of other bots, and posts of a channel in its group. */
const isMachine = ({ from, sender_chat: sender, is_automatic_forward: isForward }: TelegramMessage) =>
  isForward === true || (from?.is_bot === true && sender === undefined);

function timestampOf({ date }: TelegramMessage, receivedAt: Date): number {
  const ms = (date ?? 0) * 1_000;
  return Number.isSafeInteger(ms) && ms > 0 ? ms : receivedAt.getTime();
}

/**
 * Reads an update, or the updates of one album. In a group it ignores messages that do not address the bot by its
 * name or as a reply to it. Everywhere it ignores messages of channels and other bots, and service messages.
 */
export function readUpdate(updates: readonly unknown[], { bot, receivedAt }: { bot: Bot; receivedAt: Date }): Reading {
  const found = updates.flatMap((update) => messageOf(update) ?? []);
  const messages = found.map(({ message }) => message);
  const [first] = messages;
  if (first === undefined || !CHAT_TYPES.includes(first.chat.type) || isMachine(first)) return IGNORED;
  const isGroup = GROUPS.includes(first.chat.type);
  const isEdit = found[0]?.isEdit === true;
  const marked = messages.map(markedText);
  const isAddressed =
    !isGroup || messages.some((message) => repliesToBot(message, bot)) || marked.some((text) => mentionsBot(text, bot));
  if (!isAddressed) return IGNORED;

  const telegram = metaOf(messages, first);
  const target: AnswerTarget = {
    chatId: String(first.chat.id),
    threadId: telegram.threadId ?? null,
    replyToMessageId: isGroup ? first.message_id : null,
  };
  const languageCode = first.from?.language_code;
  const command = isEdit ? null : readCommand(markedText(first), bot);
  const own = OWN_COMMANDS.find((known) => known === command);
  if (own !== undefined) return { kind: "command", command: own, target, languageCode };

  const files = messages.flatMap(listFiles);
  const words = cleanText(
    messages
      .map((message) => textOfMessage(message, bot))
      .filter((part) => part !== "")
      .join("\n"),
    TEXT_MAX_CHARS,
  );
  const quote = quoteOf(first, bot, isGroup);
  if (!isVisible(words) && files.length === 0 && quote === "") {
    // The bot's name alone is a request for help. Any other message without content is a service message: a new
    // member, a new title.
    const saysName = marked.some((text) => mentionsBot(text, bot));
    return saysName && !isEdit ? { kind: "command", command: "help", target, languageCode } : IGNORED;
  }
  // A live location is edited every few seconds.
  if (isEdit && first.location !== undefined) return IGNORED;

  const plain = [quote === "" ? "" : asQuote(quote), words].filter((part) => part !== "").join("\n\n");
  const correction = isEdit
    ? { messageId: first.message_id, text: `${ownTexts(languageCode).correction}: ${plain}`.trim() }
    : null;
  return {
    kind: "message",
    userId: userIdOf(first),
    text: plain,
    timestampMs: timestampOf(first, receivedAt),
    telegram,
    files,
    correction,
  };
}
