import { z } from "zod";
import { createdAnswer, itemAnswer, listAnswer, listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { ticketTagField } from "./ticket.ts";
import { textUpTo } from "./limits.ts";

/** Limits of managed tags. Characters are Unicode code points. */
export const TAG_LIMITS = {
  /** Maximum number of managed tags of a project: one page of the list. */
  maxCount: 200,
  descriptionMaxChars: 500,
} as const;

/** Colors of managed tags. The console shows each with enough contrast in its light and its dark theme. */
export const TAG_COLORS = ["gray", "red", "orange", "yellow", "green", "teal", "blue", "purple", "pink"] as const;

/** Color of a managed tag. */
export const tagColorSchema = z.enum(TAG_COLORS);
export type TagColor = z.infer<typeof tagColorSchema>;

/** A managed tag. Tickets refer to it by its name. */
export const tagSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  color: tagColorSchema,
  description: z.string().describe("What the tag is for. Empty if nobody has said so."),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  version: z.int(),
});
export type Tag = z.infer<typeof tagSchema>;

const settings = {
  color: tagColorSchema.optional(),
  description: textUpTo(TAG_LIMITS.descriptionMaxChars).optional(),
};

/** Name of a managed tag. Without a comma, which separates tags where people write them. */
const nameField = ticketTagField.refine((name) => !name.includes(","), { error: "must not contain a comma" });

/** Body of `POST /api/v1/admin/tags`. Unknown fields are rejected. */
export const tagInputSchema = z.strictObject({ name: nameField, ...settings });

/** Body of `PATCH /api/v1/admin/tags/:id`. Unknown fields are rejected. */
export const tagChangeSchema = z.strictObject({ name: nameField.optional(), ...settings });
export type TagChange = z.infer<typeof tagChangeSchema>;

/** Body of `POST /api/v1/admin/tags/:id/merge`. Unknown fields are rejected. */
export const tagMergeSchema = z.strictObject({
  tagId: z.uuid({ error: "must be the ID of a tag" }).describe("The tag that becomes part of this one."),
});

const route = routesAt("Tags", "/api/v1/admin/tags");

/** Managed tags. */
export const tagEndpoints = {
  listTags: {
    ...route("GET", "tickets:read", "List managed tags, newest first"),
    description: "Tickets can also have tags that are not in this list.",
    query: listQuery,
    answers: [listAnswer(tagSchema)],
  },
  createTag: {
    ...route("POST", "tickets:write", "Create a managed tag"),
    description: `The name must be unique in the project, ignoring case. If tickets have a tag of this name, it is managed from then on. The color defaults to \`gray\`. A project can have ${TAG_LIMITS.maxCount} managed tags.`,
    body: { schema: tagInputSchema },
    answers: [createdAnswer(tagSchema)],
    example: { body: { name: "Refund", color: "orange", description: "The customer wants money back." } },
  },
  getTag: {
    ...route("GET /{id}", "tickets:read", "Get a managed tag"),
    answers: [itemAnswer(tagSchema)],
  },
  updateTag: {
    ...route("PATCH /{id}", "tickets:write", "Update or rename a managed tag"),
    description:
      "Omitted fields stay unchanged. A new name also replaces the former one on tickets, in saved views of the project and in canned replies; on many tickets, this takes some seconds. To give the tag the name of another managed tag, merge them.",
    body: { schema: tagChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(tagSchema)],
    example: { body: { color: "red" } },
  },
  deleteTag: {
    ...route("DELETE /{id}", "tickets:write", "Delete a managed tag"),
    description: "Also removes it from tickets and canned replies; from many tickets, this takes some seconds.",
    ifMatch: true,
    answers: [itemAnswer(tagSchema)],
  },
  mergeTag: {
    ...route("POST /{id}/merge", "tickets:write", "Merge another managed tag into this one"),
    description:
      "Cannot be undone. Tickets, saved views and canned replies with the other tag get this one; on many tickets, this takes some seconds.",
    body: { schema: tagMergeSchema },
    answers: [itemAnswer(tagSchema)],
    example: { body: { tagId: "01890a5d-ac96-774b-bcce-b302099a8057" } },
  },
} as const satisfies Record<string, Endpoint>;
