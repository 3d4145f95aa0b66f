import { z } from "zod";
import { OPERATOR_LIMITS, operatorPasswordField, operatorRoleSchema } from "./operator.ts";
import type { NotificationSettings } from "./operator.ts";
import { sitePathSchema } from "./widget.ts";
import { lineUpTo, textUpTo } from "./limits.ts";
import { projectNameSchema } from "./project.ts";

/** Limits of saved views. Characters are Unicode code points. */
export const VIEW_LIMITS = {
  /** Maximum number of views per operator. */
  maxCount: 50,
  nameMaxChars: 60,
  filterMaxChars: 500,
} as const;

/** Filters of a saved view: those of the list of tickets that the view does not imply. */
export const VIEW_FILTERS = [
  "q",
  "sort",
  "channelId",
  "status",
  "stage",
  "priority",
  "agentId",
  "assignee",
  "tag",
  "language",
  "overdue",
  "createdFrom",
  "createdTo",
  "userId",
] as const;

const nameSchema = lineUpTo(VIEW_LIMITS.nameMaxChars).transform((name) => name.trim());

/**
 * A named view of the inbox: a section of the inbox, and filters. Filters are stored as written; the list of tickets
 * validates them.
 */
export const savedViewSchema = z.strictObject({
  name: nameSchema,
  project: projectNameSchema.nullable().describe("Null for a view of all projects."),
  view: z
    .string({ error: "must be a section of the inbox" })
    .regex(/^[a-z][a-z0-9-]{0,39}$/, { error: "must have 1 to 40 letters, digits and -" }),
  filters: z.partialRecord(z.enum(VIEW_FILTERS), textUpTo(VIEW_LIMITS.filterMaxChars)),
});
export type SavedView = z.infer<typeof savedViewSchema>;

/** Query of `DELETE /session/views`. */
export const savedViewNameSchema = savedViewSchema.pick({ name: true });

/** Response of `GET /session/views` and of each change: all current views. */
export interface SavedViewsAnswer {
  ok: true;
  items: SavedView[];
}

/** Limits of console sessions. */
export const SESSION_LIMITS = {
  /** Idle timeout of a session, in seconds. */
  idleSeconds: 12 * 3_600,
  /** Maximum lifetime of a session, in seconds. */
  totalSeconds: 7 * 24 * 3_600,
  /** Lifetime of a password link, in seconds. */
  linkSeconds: 24 * 3_600,
  /** Maximum sign-in attempts from one address per minute. */
  triesPerAddress: 30,
  /** Maximum sign-in attempts with one email address from one address, within `triesWindowSeconds`. */
  triesPerEmail: 10,
  triesWindowSeconds: 300,
} as const;

/** Header of every request that changes data, with the value of `csrf` from `GET /session`. */
export const CSRF_HEADER = "x-svc-csrf";

/** Body of `POST /session`. Overlong values are rejected like wrong ones. */
export const signInSchema = z.strictObject({
  email: z.string({ error: "must be an email address" }).max(1_000),
  password: z.string({ error: "must be a password" }).max(1_000),
});

/** Body of `POST /session/password`. */
export const passwordChangeSchema = z.strictObject({
  currentPassword: z.string({ error: "must be the current password" }).max(1_000),
  newPassword: operatorPasswordField,
});

/** Body of `PUT /session/profile`: what customers see of the signed-in operator. Omitted fields stay unchanged. */
export const publicProfileSchema = z.strictObject({
  signature: textUpTo(OPERATOR_LIMITS.signatureMaxChars).optional(),
  publicName: z
    .union([z.literal(""), lineUpTo(OPERATOR_LIMITS.publicNameMaxChars)])
    .refine((name) => !name.includes("@"), { error: "must not be an email address", params: { code: "not_allowed" } })
    .optional(),
  picture: sitePathSchema.optional(),
});
export type PublicProfileInput = z.infer<typeof publicProfileSchema>;
/** Body of `PUT /session/duty`: whether the signed-in operator is on duty. */
export const dutySchema = z.strictObject({ onDuty: z.boolean({ error: "must be true or false" }) });

/** Keys of a browser (RFC 8291): 65 and 16 bytes, without padding. */
const pushKeysSchema = z.object({
  p256dh: z.string().regex(/^B[A-P][\w-]{84}[AEIMQUYcgkosw048]$/, {
    error: "must be an uncompressed point of the curve P-256: 65 bytes in base64url",
  }),
  auth: z.string().regex(/^[\w-]{21}[AQgw]$/, { error: "must be 16 bytes in base64url" }),
});

/** Body of `POST /session/push`: what the browser's Push API returns. */
export const pushSubscriptionSchema = z.object({
  endpoint: z
    .string()
    .max(2_000)
    .pipe(z.url({ protocol: /^https$/, error: "must be a URL that starts with https://" })),
  keys: pushKeysSchema,
});

/** Body of `DELETE /session/push`. */
export const pushEndpointSchema = pushSubscriptionSchema.pick({ endpoint: true });

/** Response of `GET /session/push`. */
export interface PushAnswer {
  ok: true;
  /** Key by which push services recognize this installation, base64url: `applicationServerKey` of the Push API. */
  publicKey: string;
  /** Whether the browser with the `endpoint` of the query gets the notifications of the signed-in operator. */
  isSubscribed: boolean;
}

/** Response of `GET` and `PUT /session/notifications`. The body of `PUT` is the item. */
export interface NotificationsAnswer {
  ok: true;
  item: NotificationSettings;
  /** False until the operator has saved settings: then the item has the defaults. */
  isStored: boolean;
  /** False without a mail server in the configuration: then no emails are sent. */
  canSend: boolean;
}

/** Body of `POST /link`: the password that is set with a link. */
export const linkUseSchema = z.strictObject({
  token: z.string({ error: "must be the token of the link" }).max(200),
  password: operatorPasswordField,
  /** For the first administrator only. */
  email: z
    .string()
    .max(OPERATOR_LIMITS.emailMaxChars)
    .pipe(z.email({ error: "must be an email address, such as ann@example.com" }))
    .optional(),
  name: lineUpTo(OPERATOR_LIMITS.nameMaxChars).optional(),
});

/** Purpose of a link, as returned by `POST /link/look`. */
export const linkSchema = z.object({
  ok: z.literal(true),
  kind: z.enum(["first-administrator", "password"]),
  email: z.string().nullable().describe("Operator whose password is set."),
  expiresAt: z.iso.datetime(),
});
export type LinkAnswer = z.infer<typeof linkSchema>;

/** The signed-in operator: response of `GET /session` and `POST /session`. */
export const sessionSchema = z.object({
  ok: z.literal(true),
  operator: z.object({
    id: z.uuid(),
    name: z.string(),
    email: z.string(),
    hasPassword: z.boolean(),
    onDuty: z.boolean(),
    signature: z.string().describe("What the console adds to the operator's replies, as Markdown. Empty for none."),
    publicName: z.string().describe("Name that visitors of the widget see. Empty for none."),
    picture: z.string().describe("Path of a picture on the site of the widget. Empty for none."),
    roles: z.array(z.object({ project: z.string(), role: operatorRoleSchema })),
  }),
  projects: z
    .array(z.object({ name: z.string(), scopes: z.array(z.string()) }))
    .describe("Projects in which the operator has a role, with the scopes there."),
  isAdministrator: z.boolean().describe("True for the role administrator in all projects (`admin:*`)."),
  csrf: z.string().describe("Send it as `x-svc-csrf` with each request that changes data."),
  expiresAt: z.iso.datetime().describe("When the session expires at the latest."),
});
export type SessionAnswer = z.infer<typeof sessionSchema>;

/** Body of `POST /presence`: the ticket shown in a browser tab, or null. */
export const presenceSchema = z.strictObject({
  ticketId: z.uuid({ error: "must be the ID of a ticket, or null" }).nullable(),
  isTyping: z.boolean({ error: "must be true or false" }).default(false),
  tab: z
    .string({ error: "must be the name of a tab" })
    .regex(/^[\w-]{1,64}$/, { error: "must have 1 to 64 letters, digits, - and _" })
    .default("main"),
});

/** Events of the stream `GET /events`. `hello` is sent first, and again if events may have been lost. */
export interface ConsoleEvents {
  hello: { operatorId: string };
  ticket: {
    ticketId: string;
    /** Name of the ticket's current project. */
    project: string;
    version: number;
    status: string;
    stage: string;
    assignee: string | null;
    /** Actor of the change. */
    actor: string;
    /** The new stages. Empty for other changes. */
    what: string[];
    /** IDs of operators mentioned in a note. Empty for other changes. */
    mentions: string[];
  };
  /** A ticket that was moved to another project. Contains no further details. */
  gone: { ticketId: string; project: string };
  presence: { ticketId: string; viewers: { operatorId: string; name: string; isTyping: boolean }[] };
  /** The customer of the displayed ticket is typing; repeated every few seconds. */
  customerTyping: { ticketId: string };
}

/** A public component of the service. */
export interface ServiceAddress {
  id: "api" | "widget" | "tool-server";
  port: number;
  /** Whether it responds on the console's machine. One that does not may run on another machine. */
  isReachable: boolean;
}

/** A note that mentions the signed-in operator. */
export interface Mention {
  /** Increases over time. */
  id: number;
  ticketId: string;
  /** Name of the ticket's project. */
  project: string;
  subject: string;
  at: string;
  /** Author, as in `operator:…`. */
  actor: string;
  /** Name of the author. Null if no longer an operator. */
  author: string | null;
  text: string;
}

/**
 * Response of `GET /session/mentions`: the newest mentions in all projects whose tickets the operator can read, at most
 * 50.
 */
export interface MentionsAnswer {
  ok: true;
  items: Mention[];
}

/** An operator of a project. */
export interface Colleague {
  id: string;
  name: string;
  /** False for viewers, to whom tickets cannot be assigned. */
  mayWrite: boolean;
}

/**
 * Response of `GET /session/colleagues`: operators who can sign in and have a role in the project, including the
 * caller, by name.
 */
export interface ColleaguesAnswer {
  ok: true;
  items: Colleague[];
}

/** Response of `GET /session/places`: URLs of the service's components, for display. */
export interface ServiceAddressesAnswer {
  ok: true;
  items: ServiceAddress[];
}
