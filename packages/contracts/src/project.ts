import { z } from "zod";
import { countChars, wellFormedString } from "./well-formed.ts";

/** Bounds of a project's settings. */
export const PROJECT_LIMITS = {
  /** Characters (Unicode code points) of the hand-off text. */
  handoffTextMaxChars: 5_000,
  /** Days that something may be kept: about a hundred years. */
  retentionMaxDays: 36_500,
} as const;

/** Name of a project, as `x-svc-project` carries it. */
export const projectNameSchema = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, {
  error: "1 to 63 characters of a-z, 0-9 and -, the first a letter or digit",
});

const retentionDaysSchema = z.int().min(1).max(PROJECT_LIMITS.retentionMaxDays).nullable();

/** Body of `POST /api/v1/projects`. Unknown fields are faults. */
export const projectInputSchema = z.strictObject({
  name: projectNameSchema,
  /** What a customer reads when a person has to answer; may be empty. The service's own text where absent. */
  handoffText: wellFormedString
    .refine((text) => countChars(text) <= PROJECT_LIMITS.handoffTextMaxChars, {
      error: `at most ${PROJECT_LIMITS.handoffTextMaxChars} characters`,
      params: { code: "too_long" },
    })
    .optional(),
  /** Each Markdown table of an answer also comes as an XLSX file; true where absent. */
  tablesAsXlsx: z.boolean().optional(),
  /** Days; null or absent: for ever. */
  retentionDays: retentionDaysSchema.optional(),
});
export type ProjectInput = z.infer<typeof projectInputSchema>;

/** A project as the administration shows it. */
export const projectItemSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  handoffText: z.string(),
  tablesAsXlsx: z.boolean(),
  retentionDays: z.int().nullable(),
  createdAt: z.iso.datetime(),
  version: z.int(),
});
export type ProjectItem = z.infer<typeof projectItemSchema>;
