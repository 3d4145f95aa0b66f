import { z } from "zod";
import { cursorSchema, decodeTextCursor, encodeTextCursor, listFields } from "./list-query.ts";

/** Limits of the model catalog. */
export const MODEL_LIMITS = {
  /** Maximum characters of a model's catalog ID. */
  catalogIdMaxChars: 300,
  /** Number of consecutive attempts without progress before a pull fails. */
  pullMaxTries: 5,
  /** Maximum duration of a pull. */
  pullMaxHours: 24,
} as const;

/** Progress of a pull. */
export const modelPullProgressSchema = z.object({
  status: z.string().describe("Current step as reported by Ollama: `pulling manifest`, `verifying sha256 digest`, …"),
  completedBytes: z.int().describe("Bytes downloaded."),
  totalBytes: z.int().nullable().describe("Total bytes known so far. Null before that."),
});
export type ModelPullProgress = z.infer<typeof modelPullProgressSchema>;

/** Progress of a model's pull, as returned to callers. */
export const modelPullSchema = z.object({
  ok: z.literal(true),
  catalogId: z.string().describe("Catalog ID of the model, including its tag."),
  ...modelPullProgressSchema.shape,
});
export type ModelPull = z.infer<typeof modelPullSchema>;

/** A model of the catalog. */
export const modelSchema = z.object({
  catalogId: z.string().describe("Name that agents use for the model: its provider, a colon, and its name there."),
  name: z.string().describe("Name of the model at the provider."),
  provider: z.string(),
  local: z.boolean().describe("True if the model runs on your own machine, so that prompts stay there."),
  sizeBytes: z.int().nullable().describe("Size on disk, approximate if the model is not installed. Null if unknown."),
  installed: z.boolean().describe("True if the model can be used now; false if it must be pulled first."),
  contextWindow: z.int().nullable().describe("Context length in tokens. Null if unknown."),
  pull: modelPullProgressSchema.nullable().describe("Progress of its pull, while it is being pulled."),
});
export type Model = z.infer<typeof modelSchema>;

/** A provider that has not returned its list of models. */
export const unreachableProviderSchema = z.object({
  provider: z.string(),
  detail: z.string().describe("The reason, and what to do."),
});
export type UnreachableProvider = z.infer<typeof unreachableProviderSchema>;

/** One page of the catalog. */
export const modelListSchema = z.object({
  ok: z.literal(true),
  items: z.array(modelSchema),
  nextCursor: z.string().nullable(),
  unreachable: z.array(unreachableProviderSchema).describe("Providers whose models are missing from the list."),
});
export type ModelList = z.infer<typeof modelListSchema>;

const LIST = "models";

/** Returns the sort key of a model in the list: installed models first, then by ID. */
export function placeOfModel({ catalogId, installed }: Pick<Model, "catalogId" | "installed">): string {
  return `${installed ? 0 : 1}${catalogId}`;
}

/** Returns the cursor of the page after this position in the list of models. */
export const encodeModelCursor = (place: string): string => encodeTextCursor(LIST, place);

/** Schema of a query for models. The result has `after`, the decoded position, instead of the cursor. */
export const modelListInputSchema = z
  .object({
    limit: listFields.limit,
    cursor: cursorSchema((cursor) => decodeTextCursor(LIST, cursor)).optional(),
    q: listFields.q,
  })
  .transform(({ cursor, ...rest }) => ({ ...rest, after: cursor }));
