import { z } from "zod";
import { projectNameSchema } from "./project.ts";
import { lineUpTo, textUpTo } from "./well-formed.ts";

/** Bounds of the views that operators save. Characters are Unicode code points. */
export const VIEW_LIMITS = {
  /** Views of one operator. */
  maxCount: 50,
  nameMaxChars: 60,
  filterMaxChars: 500,
} as const;

/** What a saved view can be narrowed down by: the filters of the list of tickets, besides what the view stands for. */
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
 * A view of the inbox under a name of one's own: the part of the inbox, and the filters that narrow it down. Filters are
 * kept as they are written; the list of tickets checks them.
 */
export const savedViewSchema = z.strictObject({
  name: nameSchema,
  project: projectNameSchema.nullable().describe("Null for a view of all projects."),
  view: z
    .string({ error: "a part of the inbox" })
    .regex(/^[a-z][a-z0-9-]{0,39}$/, { error: "1 to 40 letters, digits and -" }),
  filters: z.partialRecord(z.enum(VIEW_FILTERS), textUpTo(VIEW_LIMITS.filterMaxChars)),
});
export type SavedView = z.infer<typeof savedViewSchema>;

/** What `DELETE /session/views` is asked. */
export const savedViewNameSchema = savedViewSchema.pick({ name: true });

/** Answer of `GET /session/views`, and of each change: all views as they are then. */
export interface SavedViewsAnswer {
  ok: true;
  items: SavedView[];
}
