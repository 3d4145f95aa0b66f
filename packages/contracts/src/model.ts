import { z } from "zod";
import { cursorSchema, decodeTextCursor, encodeTextCursor, listFields } from "./list-query.ts";

/** Bounds of the catalogue of models. */
export const MODEL_LIMITS = {
  /** Characters of a model's id in the catalogue. */
  catalogIdMaxChars: 300,
  /** Times in a row that a pull may come no further before it is given up. */
  pullMaxTries: 5,
  /** How long a pull may take in all. */
  pullMaxHours: 24,
} as const;

/** How far a pull is. */
export const modelPullProgressSchema = z.object({
  status: z
    .string()
    .describe("What is being done, as Ollama says it: `pulling manifest`, `verifying sha256 digest`, …"),
  completedBytes: z.int().describe("Bytes that have come."),
  totalBytes: z.int().nullable().describe("Bytes in all, as far as they are known by now; null before that."),
});
export type ModelPullProgress = z.infer<typeof modelPullProgressSchema>;

/** How far the pull of a model is, as a call is answered. */
export const modelPullSchema = z.object({
  ok: z.literal(true),
  catalogId: z.string().describe("Id of the model in the catalogue, written out: with its tag."),
  ...modelPullProgressSchema.shape,
});
export type ModelPull = z.infer<typeof modelPullSchema>;

/** A model of the catalogue. */
export const modelSchema = z.object({
  catalogId: z.string().describe("What agents name it by: its provider, a colon, its name there."),
  name: z.string().describe("Its name at the provider."),
  provider: z.string(),
  local: z.boolean().describe("True for a model on a machine of yours; what it is asked stays there."),
  sizeBytes: z
    .int()
    .nullable()
    .describe("What it takes on the disk, about where it is not installed; null where nobody says."),
  installed: z.boolean().describe("True when it can be used now; false when it has to be pulled before."),
  contextWindow: z.int().nullable().describe("Tokens that it reads at once; null where nobody says."),
  pull: modelPullProgressSchema.nullable().describe("How far its pull is, while it is being pulled."),
});
export type Model = z.infer<typeof modelSchema>;

/** A provider that has not said which models it has. */
export const unreachableProviderSchema = z.object({
  provider: z.string(),
  detail: z.string().describe("Why, and what to do."),
});
export type UnreachableProvider = z.infer<typeof unreachableProviderSchema>;

/** A page of the catalogue. */
export const modelListSchema = z.object({
  ok: z.literal(true),
  items: z.array(modelSchema),
  nextCursor: z.string().nullable(),
  unreachable: z.array(unreachableProviderSchema).describe("Providers whose models are missing from the list."),
});
export type ModelList = z.infer<typeof modelListSchema>;

const LIST = "models";

/** Where a model stands in the list: installed ones first, then by their ids. */
export function placeOfModel({ catalogId, installed }: Pick<Model, "catalogId" | "installed">): string {
  return `${installed ? 0 : 1}${catalogId}`;
}

/** The cursor of what follows this place in the list of models. */
export const encodeModelCursor = (place: string): string => encodeTextCursor(LIST, place);

/** What is asked of the list of models; the result has, in place of the cursor, `after`: the place where it goes on. */
export const modelListInputSchema = z
  .object({
    limit: listFields.limit,
    cursor: cursorSchema((cursor) => decodeTextCursor(LIST, cursor)).optional(),
    q: listFields.q,
  })
  .transform(({ cursor, ...rest }) => ({ ...rest, after: cursor }));
