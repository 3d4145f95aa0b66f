import { z } from "zod";
import { projectNameSchema } from "./project.ts";
import { lineUpTo, textUpTo } from "./well-formed.ts";

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
