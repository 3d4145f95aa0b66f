import { z } from "zod";
import { createdAnswer, itemAnswer, listAnswer, listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { REVIEW_LIMITS, replyActionsSchema } from "./review.ts";
import { ticketPriorityField, ticketPrioritySchema, ticketTagsField } from "./ticket.ts";
import { lineUpTo, messageText } from "./limits.ts";

/** Limits of canned replies. Characters are Unicode code points. */
export const CANNED_REPLY_LIMITS = {
  nameMaxChars: 200,
  textMaxChars: 50_000,
  tagsMaxCount: 20,
  tagMaxChars: 50,
  snoozeMaxHours: REVIEW_LIMITS.snoozeMaxDays * 24,
} as const;

/** Variables that a canned reply can use between double braces, and what they are replaced with. */
export const CANNED_REPLY_VARIABLES = {
  "customer.name": "the customer's name",
  "customer.userId": "the sender's user ID on the channel",
  "customer.chatId": "the chat ID on the channel",
  "ticket.id": "the ticket ID",
  "ticket.subject": "the ticket's subject",
  "ticket.channel": "the ticket's channel",
  "ticket.language": "the ticket's language (ISO 639-1)",
  "agent.name": "the assigned agent",
  "project.name": "the ticket's project",
  "operator.name": "the operator who sends the reply",
} as const;
export type CannedReplyVariable = keyof typeof CANNED_REPLY_VARIABLES;

const LINE_MAX_CHARS = 1_000;
const VARIABLE = /\{\{([^{}]*)\}\}/g;

/**
 * Replaces the variables between double braces. `valueOf` receives the name of the variable, and the text before it in
 * its line, with the values that are filled in; of a long line, the last 1,000 characters.
 */
export function fillVariables(text: string, valueOf: (name: string, before: string) => string): string {
  const parts: string[] = [];
  let line = "";
  let end = 0;
  const add = (part: string) => {
    parts.push(part);
    line = (line + part).slice(-LINE_MAX_CHARS).replace(/^.*\n/su, "");
  };
  for (const { 0: variable, 1: name = "", index } of text.matchAll(VARIABLE)) {
    add(text.slice(end, index));
    end = index + variable.length;
    add(valueOf(name.trim(), line));
  }
  return parts.join("") + text.slice(end);
}

/** Returns true if the name is one of `CANNED_REPLY_VARIABLES`. */
export function isCannedReplyVariable(name: string): name is CannedReplyVariable {
  return Object.hasOwn(CANNED_REPLY_VARIABLES, name);
}

const MAX_NAMED = 10;

const textSchema = messageText(CANNED_REPLY_LIMITS.textMaxChars).check((context) => {
  const unknown = new Set<string>();
  fillVariables(context.value, (name) => (isCannedReplyVariable(name) ? "" : (unknown.add(name), "")));
  if (unknown.size === 0) return;
  const named = [...unknown].slice(0, MAX_NAMED).map((name) => `{{${name.slice(0, 40)}}}`);
  context.issues.push({
    code: "custom",
    message: `contains unknown variables: ${named.join(", ")}; known variables are ${Object.keys(CANNED_REPLY_VARIABLES).join(", ")}`,
    input: context.value,
    params: { code: "unknown_variable" },
  });
});

const tagsSchema = z
  .array(lineUpTo(CANNED_REPLY_LIMITS.tagMaxChars))
  .max(CANNED_REPLY_LIMITS.tagsMaxCount, { error: `must have at most ${CANNED_REPLY_LIMITS.tagsMaxCount} tags` })
  // Duplicates are removed.
  .transform((tags) => [...new Set(tags)]);

const SNOOZE_HOURS_ERROR = `must be an integer from 1 to ${CANNED_REPLY_LIMITS.snoozeMaxHours}, or null`;

/** An operator of the console, as tickets name assignees. */
const OPERATOR_ACTOR = /^operator:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/u;

/** Changes to a ticket that come with a canned reply sent on it. Unknown fields are rejected. */
export const cannedReplyActionsSchema = z
  .strictObject({
    addTags: ticketTagsField.optional(),
    priority: ticketPriorityField.optional(),
    assignee: z
      .union([z.literal("self"), z.string().regex(OPERATOR_ACTOR)], {
        error: "must be self, an operator such as operator:01890a5d-ac96-774b-bcce-b302099a8057, or null",
      })
      .nullable()
      .optional()
      .describe("`self` for the author of the reply. Null for nobody."),
    snoozeHours: z
      .int({ error: SNOOZE_HOURS_ERROR })
      .min(1, { error: SNOOZE_HOURS_ERROR })
      .max(CANNED_REPLY_LIMITS.snoozeMaxHours, { error: SNOOZE_HOURS_ERROR })
      .nullable()
      .optional()
      .describe("Hours from when the canned reply is rendered. Null: until the customer writes."),
    resolves: z.boolean({ error: "must be true or false" }).optional(),
  })
  .refine(({ resolves, snoozeHours }) => resolves !== true || snoozeHours === undefined, {
    path: ["snoozeHours"],
    error: "cannot be combined with resolves",
  });
export type CannedReplyActions = z.infer<typeof cannedReplyActionsSchema>;

/** Stored actions of a canned reply. */
const storedActionsSchema = z.object({
  addTags: z.array(z.string()).optional(),
  priority: ticketPrioritySchema.optional(),
  assignee: z.string().nullable().optional(),
  snoozeHours: z.int().nullable().optional(),
  resolves: z.boolean().optional(),
});

/** Reusable text for replies. */
export const cannedReplySchema = z.object({
  id: z.uuid(),
  name: z.string(),
  text: z.string().describe("Markdown with variables such as `{{ticket.subject}}`."),
  folder: z.string().nullable(),
  tags: z.array(z.string()),
  actions: storedActionsSchema.describe("What changes on the ticket with the reply."),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  version: z.int(),
});
export type CannedReply = z.infer<typeof cannedReplySchema>;

const settings = {
  folder: lineUpTo(CANNED_REPLY_LIMITS.nameMaxChars).nullable().optional(),
  tags: tagsSchema.optional(),
  actions: cannedReplyActionsSchema.optional(),
};
const nameSchema = lineUpTo(CANNED_REPLY_LIMITS.nameMaxChars);

/** Body of `POST /api/v1/admin/canned-replies`. Unknown fields are rejected. */
export const cannedReplyInputSchema = z.strictObject({ name: nameSchema, text: textSchema, ...settings });

/** Body of `PATCH /api/v1/admin/canned-replies/:id`. Unknown fields are rejected. */
export const cannedReplyChangeSchema = z.strictObject({
  name: nameSchema.optional(),
  text: textSchema.optional(),
  ...settings,
});

/** Body of `POST /api/v1/admin/canned-replies/:id/render`. Unknown fields are rejected. */
export const cannedReplyRenderSchema = z.strictObject({ ticketId: z.uuid({ error: "must be the ID of a ticket" }) });

/** A canned reply rendered for a ticket, ready for review and sending. */
export const renderedReplySchema = z.object({
  text: z.string(),
  markdown: z.literal(true),
  resolves: z.boolean().describe("Send it as `resolves` of the reply."),
  actions: replyActionsSchema.describe("Send them as `actions` of the reply. Empty for a text without actions."),
});
export type RenderedReply = z.infer<typeof renderedReplySchema>;

const route = routesAt("Canned replies", "/api/v1/admin/canned-replies");

/** Canned replies. */
export const cannedReplyEndpoints = {
  listCannedReplies: {
    ...route("GET", "tickets:read", "List canned replies, newest first"),
    description: "`q` searches name and text.",
    query: listQuery.extend({
      folder: z.string().optional().describe("Only canned replies in this folder."),
      tag: z.string().optional().describe("Only canned replies with this tag."),
    }),
    answers: [listAnswer(cannedReplySchema)],
  },
  createCannedReply: {
    ...route("POST", "tickets:write", "Create a canned reply"),
    description:
      "The name must be unique in the project. The text is Markdown, with variables such as `{{ticket.subject}}`. `actions` make it a macro: what changes on the ticket when the reply is sent.",
    body: { schema: cannedReplyInputSchema },
    answers: [createdAnswer(cannedReplySchema)],
    example: {
      body: { name: "Shipping", text: "Hello {{customer.userId}},\n\nit is on its way.\n\n{{operator.name}}" },
    },
  },
  getCannedReply: {
    ...route("GET /{id}", "tickets:read", "Get a canned reply"),
    answers: [itemAnswer(cannedReplySchema)],
  },
  updateCannedReply: {
    ...route("PATCH /{id}", "tickets:write", "Update a canned reply"),
    description: "Omitted fields stay unchanged. Tags and actions are replaced as a whole.",
    body: { schema: cannedReplyChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(cannedReplySchema)],
    example: { body: { tags: ["shipping"] } },
  },
  deleteCannedReply: {
    ...route("DELETE /{id}", "tickets:write", "Delete a canned reply"),
    ifMatch: true,
    answers: [itemAnswer(cannedReplySchema)],
  },
  renderCannedReply: {
    ...route("POST /{id}/render", "tickets:read", "Render a canned reply for a ticket"),
    description:
      "Nothing is sent or changed. Values of variables are escaped, so that they are not interpreted as Markdown. Send the text with `resolves` and `actions` to `POST /api/v1/admin/tickets/{id}/reply`.",
    body: { schema: cannedReplyRenderSchema },
    answers: [itemAnswer(renderedReplySchema)],
    example: { body: { ticketId: "01890a5d-ac96-574b-bcce-b302099a8057" } },
  },
} as const satisfies Record<string, Endpoint>;
