import { z } from "zod";
import { lineUpTo, messageText } from "./well-formed.ts";

/** Bounds of canned replies. Characters are Unicode code points. */
export const CANNED_REPLY_LIMITS = {
  nameMaxChars: 200,
  textMaxChars: 50_000,
  tagsMaxCount: 20,
  tagMaxChars: 50,
} as const;

/** What a canned reply may name between double braces, and what stands in its place. */
export const CANNED_REPLY_VARIABLES = {
  "customer.userId": "who wrote, as the channel says",
  "customer.chatId": "the conversation, as the channel says",
  "ticket.id": "the id of the ticket",
  "ticket.subject": "its subject",
  "ticket.channel": "the channel that it came in by",
  "ticket.language": "its language (ISO 639-1)",
  "agent.name": "the agent that has it",
  "project.name": "the project that works on it",
  "operator.name": "who sends the reply",
} as const;
export type CannedReplyVariable = keyof typeof CANNED_REPLY_VARIABLES;

const VARIABLE = /\{\{([^{}]*)\}\}/g;

/** Replaces what stands between double braces; `valueOf` gets the name between them. */
export function fillVariables(text: string, valueOf: (name: string) => string): string {
  return text.replaceAll(VARIABLE, (_, name: string) => valueOf(name.trim()));
}

/** True when a name is one of `CANNED_REPLY_VARIABLES`. */
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
    message: `has no variable ${named.join(", ")}; there are ${Object.keys(CANNED_REPLY_VARIABLES).join(", ")}`,
    input: context.value,
    params: { code: "unknown_variable" },
  });
});

const tagsSchema = z
  .array(lineUpTo(CANNED_REPLY_LIMITS.tagMaxChars))
  .max(CANNED_REPLY_LIMITS.tagsMaxCount, { error: `at most ${CANNED_REPLY_LIMITS.tagsMaxCount} tags` })
  // One given twice is one.
  .transform((tags) => [...new Set(tags)]);

/** A text that operators send again and again. */
export const cannedReplySchema = z.object({
  id: z.uuid(),
  name: z.string(),
  text: z.string().describe("Markdown with variables as in `{{ticket.subject}}`."),
  folder: z.string().nullable(),
  tags: z.array(z.string()),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  version: z.int(),
});
export type CannedReply = z.infer<typeof cannedReplySchema>;

const settings = {
  folder: lineUpTo(CANNED_REPLY_LIMITS.nameMaxChars).nullable().optional(),
  tags: tagsSchema.optional(),
};
const nameSchema = lineUpTo(CANNED_REPLY_LIMITS.nameMaxChars);

/** Body of `POST /api/v1/admin/canned-replies`. Unknown fields are faults. */
export const cannedReplyInputSchema = z.strictObject({ name: nameSchema, text: textSchema, ...settings });
export type CannedReplyInput = z.infer<typeof cannedReplyInputSchema>;

/** Body of `PATCH /api/v1/admin/canned-replies/:id`. Unknown fields are faults. */
export const cannedReplyChangeSchema = z.strictObject({
  name: nameSchema.optional(),
  text: textSchema.optional(),
  ...settings,
});
export type CannedReplyChange = z.infer<typeof cannedReplyChangeSchema>;

/** Body of `POST /api/v1/admin/canned-replies/:id/render`. Unknown fields are faults. */
export const cannedReplyRenderSchema = z.strictObject({ ticketId: z.uuid({ error: "the id of a ticket" }) });
export type CannedReplyRender = z.infer<typeof cannedReplyRenderSchema>;

/** A canned reply for a ticket, ready to be looked at and sent. */
export const renderedReplySchema = z.object({ text: z.string(), markdown: z.literal(true) });
export type RenderedReply = z.infer<typeof renderedReplySchema>;
