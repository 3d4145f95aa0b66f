import { z } from "zod";
import { replyAuthorSchema, sourceSchema } from "./reply-item.ts";
import { textUpTo, wellFormedString, withoutBidiControls } from "./well-formed.ts";

/** Bounds of what visitors send. */
export const WIDGET_LIMITS = {
  /** Characters (Unicode code points) of a message's text. */
  textMaxChars: 10_000,
  attachmentsMaxCount: 10,
  fileMaxBytes: 10 * 1024 * 1024,
  fileNameMaxChars: 200,
  /** Hours after which a file that no message names is removed. */
  unusedFileHours: 24,
  commentMaxChars: 2_000,
  /** Bytes of one frame that a visitor sends. */
  frameMaxBytes: 64 * 1024,
} as const;

/** Version of the frames. */
export const WIDGET_FRAME_VERSION = 1;

/** A visitor's secret: a random UUID (version 4) that the visitor's browser made. */
export const visitorIdSchema = z.uuidv4({ error: "a random UUID (version 4)" });

/** An id that the visitor's browser gives a message, so that it is one message however often it is sent. */
export const clientMessageIdSchema = z
  .string()
  .regex(/^[\x21-\x7e]{1,100}$/, { error: "1 to 100 characters of printable ASCII without spaces" });

/** The page on which a visitor writes. */
export const visitorPageSchema = z.object({
  url: textUpTo(2_048),
  title: textUpTo(300).overwrite(withoutBidiControls).optional(),
});
export type VisitorPage = z.infer<typeof visitorPageSchema>;

/** What a visitor sends, over HTTP and over the socket alike. `text` may be empty with attachments. */
export const visitorMessageSchema = z
  .object({
    text: textUpTo(WIDGET_LIMITS.textMaxChars),
    clientMessageId: clientMessageIdSchema,
    page: visitorPageSchema.optional(),
    locale: wellFormedString.max(35, { error: "at most 35 characters" }).optional(),
    attachments: z
      .array(z.object({ fileId: z.uuid() }))
      .max(WIDGET_LIMITS.attachmentsMaxCount, { error: `at most ${WIDGET_LIMITS.attachmentsMaxCount} files` })
      .optional(),
    /** True when the visitor asks for a person: no answer is sent without one. */
    wantsPerson: z.boolean().optional(),
    /** Who writes, as the form before the first message asked; unproven. */
    contact: z
      .object({ name: textUpTo(200).overwrite(withoutBidiControls).optional(), email: textUpTo(320).optional() })
      .optional(),
  })
  .refine(({ text, attachments }) => text.trim() !== "" || (attachments?.length ?? 0) > 0, {
    path: ["text"],
    error: "at least 1 character that is not white space, or an attachment",
    params: { code: "too_short" },
  });
export type VisitorMessage = z.infer<typeof visitorMessageSchema>;

/** A file in a conversation, which `GET /api/widget/files/:fileId` answers. */
export const widgetFileSchema = z.object({
  fileId: z.string(),
  filename: z.string(),
  mime: z.string(),
  sizeBytes: z.int(),
  expired: z.boolean().optional().describe("True when the retention of files has removed it."),
});
export type WidgetFile = z.infer<typeof widgetFileSchema>;

/** An item of a reply frame: as a reply item of the service document (section 2.2), a file by its id. */
export const widgetReplyItemSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("message"),
    text: z.string(),
    markdown: z.boolean(),
    sources: z.array(sourceSchema).optional(),
  }),
  widgetFileSchema.extend({ type: z.literal("attachment") }),
]);
export type WidgetReplyItem = z.infer<typeof widgetReplyItemSchema>;

/** What the server sends, by type: the `data` of its frames. */
export const SERVER_FRAMES = {
  /** First, and again after each `hello`: what was missed follows. */
  ready: z.object({ chatId: z.string(), lastSeq: z.int() }),
  /** A reply item; its place is the frame's `seq`, its id the frame's `id`. Each once, in order. */
  reply: z.object({
    items: z.array(widgetReplyItemSchema),
    author: replyAuthorSchema,
    inReplyTo: z.string().nullable(),
    createdAt: z.iso.datetime(),
  }),
  /** A message of the visitor that another tab or device has sent, or that lies in the history; `seq` is its place. */
  message: z.object({
    messageId: z.string(),
    clientMessageId: z.string().nullable(),
    text: z.string(),
    attachments: z.array(widgetFileSchema),
    createdAt: z.iso.datetime(),
  }),
  /** Whether a reply is pending. */
  typing: z.object({ on: z.boolean() }),
  /** What a reply says so far that is being made: as in the HTTP API's event streams. The reply replaces it. */
  delta: z.object({ messageId: z.string(), offset: z.int(), text: z.string() }),
  /** A message is stored. Comes again for the same `clientMessageId`. */
  ack: z.object({ clientMessageId: z.string(), messageId: z.string(), seq: z.int() }),
  /** Where the conversation stands: open, waiting for a person, or done (and may be rated). */
  status: z.object({ state: z.enum(["open", "waiting", "done"]), rating: z.int().nullable() }),
  /** A frame of the visitor was refused; the socket stays open unless a close code follows. */
  error: z.object({
    code: z.string(),
    detail: z.string(),
    /** Of the message that was refused; null where no message was. */
    clientMessageId: z.string().nullable(),
    /** Seconds after which the same may be sent again; absent where that does not help. */
    retryAfterSeconds: z.int().optional(),
  }),
} as const;
export type ServerFrameType = keyof typeof SERVER_FRAMES;
export type ServerFrameData<Type extends ServerFrameType> = z.infer<(typeof SERVER_FRAMES)[Type]>;

/** What a visitor sends, by type: the `data` of its frames. Unknown fields are ignored. */
export const VISITOR_FRAMES = {
  /** First on a plain WebSocket or where the URL has no visitorId. May be sent again to be sent what was missed. */
  hello: z.object({
    sinceSeq: z.int().min(0).default(0),
    visitorId: visitorIdSchema.optional(),
    userId: wellFormedString.min(1).max(200).optional(),
    /** Lower-case hex HMAC-SHA256 of `userId` under the identity secret. Another form is refused as a wrong one is. */
    userHash: z.string().max(200).optional(),
  }),
  message: visitorMessageSchema,
  typing: z.object({ on: z.boolean() }),
  /** The visitor has seen everything up to this place. */
  read: z.object({ seq: z.int().min(0) }),
  /** How satisfied the visitor is: 1 (not at all) to 5. A later one takes the place of an earlier one. */
  rate: z.object({
    score: z.int().min(1).max(5),
    comment: textUpTo(WIDGET_LIMITS.commentMaxChars).optional(),
  }),
} as const;
export type VisitorFrameType = keyof typeof VISITOR_FRAMES;
export type VisitorFrameData<Type extends VisitorFrameType> = z.infer<(typeof VISITOR_FRAMES)[Type]>;

/** What every frame has around its `data`. The event of socket.io is its `type`, the argument is the frame. */
export interface WidgetFrame<Type extends string, Data> {
  v: typeof WIDGET_FRAME_VERSION;
  type: Type;
  id: string;
  /** Place in the chat; 0 for what has none. */
  seq: number;
  /** RFC 3339, UTC. */
  ts: string;
  data: Data;
}
export type ServerFrame = {
  [Type in ServerFrameType]: WidgetFrame<Type, ServerFrameData<Type>>;
}[ServerFrameType];

/** Close codes of a plain WebSocket. */
export const WIDGET_CLOSE_CODES = { badFrame: 4400, badKey: 4401, origin: 4403, rate: 4429 } as const;

/** Texts of the widget that a site can replace, by name; the widget's own are in the visitor's language. */
export const widgetStringsSchema = z.record(z.string().regex(/^[a-zA-Z]{1,40}$/), textUpTo(500));

export const widgetThemeSchema = z.enum(["auto", "light", "dark"], { error: "auto, light or dark" });
export const widgetPositionSchema = z.enum(["bottom-right", "bottom-left"], {
  error: "bottom-right or bottom-left",
});
export const widgetColorSchema = z.string().regex(/^#[0-9a-fA-F]{6}$/, { error: "a color such as #3366ff" });

/** What a field of the form before the first message asks for. */
export const prechatFieldSchema = z.enum(["name", "email"]);

/** Answer of `GET /api/widget/config/:apiKey` (service document, section 4.5). */
export const widgetConfigAnswerSchema = z.object({
  theme: widgetThemeSchema,
  color: widgetColorSchema,
  position: widgetPositionSchema,
  /** BCP 47; the page's own language wins where it is supported. */
  locale: z.string(),
  dir: z.enum(["ltr", "rtl"]),
  title: z.string(),
  greeting: z.string(),
  strings: widgetStringsSchema,
  features: z.object({
    upload: z.boolean(),
    rating: z.boolean(),
    person: z.boolean(),
    sound: z.boolean(),
    /** Fields that are asked for before the first message; none where empty. */
    prechat: z.array(prechatFieldSchema),
    /** True when only visitors with a valid `data-user-hash` may write. */
    identity: z.boolean(),
  }),
});
export type WidgetConfigAnswer = z.infer<typeof widgetConfigAnswerSchema>;

/** Answer of `POST /api/widget/message`. */
export interface WidgetMessageAnswer {
  ok: true;
  chatId: string;
  ticketId: string;
  messageId: string;
  seq: number;
}
