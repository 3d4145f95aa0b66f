import { z } from "zod";
import texts from "./own-texts.json" with { type: "json" };

const NUL = /\0/g;

/** Returns a text that can be stored: without NUL and lone surrogates, at most `maxChars` code points. */
export function cleanText(text: string, maxChars: number): string {
  const clean = text.toWellFormed().replace(NUL, "");
  // A string has at least as many code units as code points.
  return clean.length <= maxChars ? clean : Array.from(clean).slice(0, maxChars).join("");
}

const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\s]+/gu;

/** Returns a name on one line, without invisible characters. */
export function cleanLine(text: string, maxChars: number): string {
  return cleanText(text.replace(INVISIBLE, " ").trim(), maxChars);
}

/** A field of an unexpected form counts as absent: one odd field must not lose a message. */
const optional = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);

const text = z.string();
const id = z.int();

const userSchema = z.object({
  id,
  is_bot: optional(z.boolean()),
  first_name: optional(text),
  last_name: optional(text),
  username: optional(text),
  language_code: optional(text),
});

const chatSchema = z.object({ id, type: z.string(), title: optional(text) });

const entitySchema = z.object({
  type: z.string(),
  offset: z.int(),
  length: z.int(),
  url: optional(text),
  user: optional(userSchema),
});
/** A marked part of a text; offset and length count UTF-16 code units. */
export type Entity = z.infer<typeof entitySchema>;

const entitiesSchema = optional(
  z.array(z.unknown()).transform((entities) =>
    entities.flatMap((entity) => {
      const parsed = entitySchema.safeParse(entity);
      return parsed.success ? [parsed.data] : [];
    }),
  ),
);

const fileSchema = z.object({
  file_id: z.string().min(1),
  /** Identifies the file across senders and messages. */
  file_unique_id: optional(text),
  file_name: optional(text),
  mime_type: optional(text),
  file_size: optional(z.int()),
  /** For photos, which have several sizes. */
  width: optional(z.int()),
  height: optional(z.int()),
});
/** A file of the Bot API. */
export type FileRef = z.infer<typeof fileSchema>;

const photosSchema = optional(
  z.array(z.unknown()).transform((sizes) =>
    sizes.flatMap((size) => {
      const parsed = fileSchema.safeParse(size);
      return parsed.success ? [parsed.data] : [];
    }),
  ),
);

const locationSchema = z.object({ latitude: z.number(), longitude: z.number() });

/** Content of a message, or of a message that it replies to. */
const content = {
  text: optional(text),
  caption: optional(text),
  entities: entitiesSchema,
  caption_entities: entitiesSchema,
  photo: photosSchema,
  document: optional(fileSchema),
  voice: optional(fileSchema),
  audio: optional(fileSchema.extend({ performer: optional(text), title: optional(text) })),
  video: optional(fileSchema),
  video_note: optional(fileSchema),
  animation: optional(fileSchema),
  sticker: optional(z.object({ emoji: optional(text) })),
  location: optional(locationSchema),
  venue: optional(z.object({ location: locationSchema, title: optional(text), address: optional(text) })),
  contact: optional(z.object({ phone_number: optional(text), first_name: optional(text), last_name: optional(text) })),
  poll: optional(
    z.object({
      question: text,
      options: z.array(z.object({ text })).catch([]),
    }),
  ),
  dice: optional(z.object({ emoji: optional(text), value: optional(z.int()) })),
  story: optional(z.object({})),
  checklist: optional(z.object({ title: optional(text) })),
  game: optional(z.object({ title: optional(text) })),
  paid_media: optional(z.object({})),
};

/** Content of a message. */
export type Content = z.infer<z.ZodObject<typeof content>>;

const repliedSchema = z.object({
  message_id: id,
  from: optional(userSchema),
  /** Set on the message that opens a topic: every message of the topic "replies" to it. */
  forum_topic_created: optional(z.object({})),
  ...content,
});
export type RepliedMessage = z.infer<typeof repliedSchema>;

const messageSchema = z.object({
  message_id: id,
  chat: chatSchema,
  date: optional(z.number()),
  from: optional(userSchema),
  /** The chat on whose behalf the message was sent: an anonymous administrator, or a channel. */
  sender_chat: optional(z.object({ id, title: optional(text) })),
  is_automatic_forward: optional(z.boolean()),
  message_thread_id: optional(id),
  is_topic_message: optional(z.boolean()),
  media_group_id: optional(text),
  reply_to_message: optional(repliedSchema),
  quote: optional(z.object({ text, is_manual: optional(z.boolean()) })),
  ...content,
});
/** The fields of a message of the Bot API that are read here. */
export type TelegramMessage = z.infer<typeof messageSchema>;

/**
 * The fields of an update of the Bot API (https://core.telegram.org/bots/api#update) that are read here. Unknown
 * fields are dropped, and fields of an undocumented form count as absent.
 */
export const updateSchema = z.object({
  message: optional(messageSchema),
  edited_message: optional(messageSchema),
});

/** The fields of `getMe` that are read here. */
export const botSchema = z.object({ id, username: z.string().optional().catch(undefined) });
export type Bot = z.infer<typeof botSchema>;

/** Texts of the bot itself. */
interface OwnTexts {
  /** For a user who starts the bot, if the project has no greeting of its own. */
  greeting: string;
  help: string;
  /** Precedes the new text of an edited message. */
  correction: string;
}

/** By the primary tag of a language (BCP 47), as Telegram reports it of its users. */
const TEXTS: Readonly<Record<string, OwnTexts>> = texts;

/** Returns the bot's own texts in the language of a user's app; in English if there are none in that language. */
export function ownTexts(languageCode: string | undefined): OwnTexts {
  const primary = languageCode?.split("-")[0]?.toLowerCase() ?? "";
  return Object.hasOwn(TEXTS, primary) ? (TEXTS[primary] ?? texts.en) : texts.en;
}
