import { z } from "zod";
import { operatorPasswordSchema, operatorRoleSchema, OPERATOR_LIMITS } from "./operator.ts";
import { lineUpTo } from "./well-formed.ts";

/** Bounds of sessions of the operator console. */
export const SESSION_LIMITS = {
  /** A session that nobody uses ends after this, in seconds. */
  idleSeconds: 12 * 3_600,
  /** A session ends at the latest after this, in seconds. */
  totalSeconds: 7 * 24 * 3_600,
  /** A link with which somebody chooses a password can be used for so long, in seconds. */
  linkSeconds: 24 * 3_600,
  /** Tries to sign in of one address, in a minute. */
  triesPerAddress: 30,
  /** Tries to sign in with one e-mail address from one address, in `triesWindowSeconds`. */
  triesPerEmail: 10,
  triesWindowSeconds: 300,
} as const;

/** The header of every call that changes something: what `GET /session` says as `csrf`. */
export const CSRF_HEADER = "x-svc-csrf";

/** Body of `POST /session`. What is too long to be right is refused as what is wrong. */
export const signInSchema = z.strictObject({
  email: z.string({ error: "an e-mail address" }).max(1_000, { error: "at most 1000 characters" }),
  password: z.string({ error: "a password" }).max(1_000, { error: "at most 1000 characters" }),
});
export type SignIn = z.infer<typeof signInSchema>;

/** Body of `POST /session/password`. */
export const passwordChangeSchema = z.strictObject({
  currentPassword: z.string({ error: "the present password" }).max(1_000, { error: "at most 1000 characters" }),
  newPassword: operatorPasswordSchema,
});
export type PasswordChange = z.infer<typeof passwordChangeSchema>;

/** Body of `POST /link`: what somebody chooses who comes by a link. */
export const linkUseSchema = z.strictObject({
  token: z.string({ error: "the token of the link" }).max(200, { error: "at most 200 characters" }),
  password: operatorPasswordSchema,
  /** Of the first administrator only. */
  email: z
    .string()
    .max(OPERATOR_LIMITS.emailMaxChars, { error: `at most ${OPERATOR_LIMITS.emailMaxChars} characters` })
    .pipe(z.email({ error: "an e-mail address, as in ann@example.com" }))
    .optional(),
  name: lineUpTo(OPERATOR_LIMITS.nameMaxChars).optional(),
});
export type LinkUse = z.infer<typeof linkUseSchema>;

/** What a link is for, as `POST /link/look` tells. */
export const linkSchema = z.object({
  ok: z.literal(true),
  kind: z.enum(["first-administrator", "password"]),
  email: z.string().nullable().describe("Whose password is chosen."),
  expiresAt: z.iso.datetime(),
});
export type LinkAnswer = z.infer<typeof linkSchema>;

/** Who is signed in: the answer of `GET /session` and `POST /session`. */
export const sessionSchema = z.object({
  ok: z.literal(true),
  operator: z.object({
    id: z.uuid(),
    name: z.string(),
    email: z.string(),
    hasPassword: z.boolean(),
    roles: z.array(z.object({ project: z.string(), role: operatorRoleSchema })),
  }),
  projects: z
    .array(z.object({ name: z.string(), scopes: z.array(z.string()) }))
    .describe("Projects that the operator has a role in, with what may be done there."),
  isAdministrator: z.boolean().describe("True with the role administrator in every project (`admin:*`)."),
  csrf: z.string().describe("To be sent as `x-svc-csrf` with each call that changes something."),
  expiresAt: z.iso.datetime().describe("When the session ends at the latest."),
});
export type SessionAnswer = z.infer<typeof sessionSchema>;

/** Body of `POST /presence`: which ticket a tab of the browser shows; null for none. */
export const presenceSchema = z.strictObject({
  ticketId: z.uuid({ error: "the id of a ticket, or null" }).nullable(),
  isTyping: z.boolean({ error: "true or false" }).default(false),
  tab: z
    .string({ error: "a name of the tab" })
    .regex(/^[\w-]{1,64}$/, { error: "1 to 64 letters, digits, - and _" })
    .default("main"),
});
export type Presence = z.input<typeof presenceSchema>;

/** What the event stream `GET /events` tells. `hello` comes first, and again when events may have been missed. */
export interface ConsoleEvents {
  hello: { operatorId: string };
  ticket: {
    ticketId: string;
    /** Name of the project that works on it now. */
    project: string;
    version: number;
    status: string;
    stage: string;
    assignee: string | null;
    /** Who did it. */
    actor: string;
    /** The stages that it has gone to; empty for another change. */
    what: string[];
    /** Ids of the operators whom a note is for; empty for another change. */
    mentions: string[];
  };
  /** A ticket that another project works on from now on, of which nobody here is told more. */
  gone: { ticketId: string; project: string };
  presence: { ticketId: string; viewers: { operatorId: string; name: string; isTyping: boolean }[] };
  /** The customer of a ticket that the operator looks at is writing; repeated every few seconds while that is so. */
  customerTyping: { ticketId: string };
}

/** A part of the service that others call. */
export interface ServicePlace {
  id: "api" | "widget" | "tool-server";
  port: number;
  /** Whether it answers on the machine of the console. One that does not may run on another machine. */
  isReachable: boolean;
}

/** A note of a ticket that is for whoever is signed in. */
export interface Mention {
  /** Grows with time. */
  id: number;
  ticketId: string;
  /** Name of the project that works on the ticket. */
  project: string;
  subject: string;
  at: string;
  /** Who wrote it, as in `operator:…`. */
  actor: string;
  /** Their name; null where they are no operator any more. */
  author: string | null;
  text: string;
}

/** Answer of `GET /session/mentions`: the newest in all projects whose tickets they may read, at most 50. */
export interface MentionsAnswer {
  ok: true;
  items: Mention[];
}

/** Somebody who works in a project. */
export interface Colleague {
  id: string;
  name: string;
  /** False for those who may only read: no ticket can be assigned to them. */
  mayWrite: boolean;
}

/** Answer of `GET /session/colleagues`: who may sign in and has a role in the project, oneself included, by name. */
export interface ColleaguesAnswer {
  ok: true;
  items: Colleague[];
}

/** Answer of `GET /session/places`: where the parts of the service are, for the addresses that the pages show. */
export interface PlacesAnswer {
  ok: true;
  items: ServicePlace[];
}
