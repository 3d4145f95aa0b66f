import { z } from "zod";
import { listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { problemSchema } from "./errors.ts";
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
export function rankOfModel({ catalogId, installed }: Pick<Model, "catalogId" | "installed">): string {
  return `${installed ? 0 : 1}${catalogId}`;
}

/** Returns the cursor of the page after this position in the list of models. */
export const encodeModelCursor = (position: string): string => encodeTextCursor(LIST, position);

/** Schema of a query for models. The result has `after`, the decoded position, instead of the cursor. */
export const modelListInputSchema = z
  .object({
    limit: listFields.limit,
    cursor: cursorSchema((cursor) => decodeTextCursor(LIST, cursor)).optional(),
    q: listFields.q,
  })
  .transform(({ cursor, ...rest }) => ({ ...rest, after: cursor }));

/** Totals of calls to language models. */
export const modelUsageSchema = z.object({
  calls: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  costUsd: z.number().nullable().describe("US dollars. Null if no price is configured."),
});
export type ModelUsageItem = z.infer<typeof modelUsageSchema>;

/** One call to a language model, without its text. */
export const modelCallItemSchema = z.object({
  at: z.iso.datetime().describe("Time at which the call ended."),
  purpose: z.string().describe("Purpose: `answer`, `triage` or `notes`."),
  model: z.string().describe("Catalog ID of the model."),
  inputTokens: z.int(),
  outputTokens: z.int(),
  costUsd: z.number().nullable(),
  ms: z.int(),
  fault: z
    .string()
    .nullable()
    .describe("Why the call returned no usable answer, as in `timeout`. Null if it succeeded."),
});
export type ModelCallItem = z.infer<typeof modelCallItemSchema>;

const route = routesAt("Models", "/api/v1/admin/models");

const params = z.object({
  catalogId: z
    .string()
    .max(MODEL_LIMITS.catalogIdMaxChars)
    .describe("Catalog ID of the model, percent-encoded: `ollama%3Allama3.2%3A3b`."),
});

const requestHeaders = z.object({
  "Last-Event-ID": z
    .string()
    .optional()
    .describe("ID of the last event received before the connection dropped. The stream resumes there."),
});

const installed = { status: 200, when: "The model is installed.", schema: modelPullSchema } as const;
const pulling = {
  status: 202,
  when: "The model is being pulled. Repeat the request for the current progress.",
  schema: modelPullSchema,
} as const;

const streamed = {
  status: 200,
  when: "With `Accept: text/event-stream`: sends `progress` events, then `done`, or `error` with the problem. Each event has an id. A comment is sent every 15 s. Disconnecting does not stop the pull.",
  schema: null,
  mediaType: "text/event-stream",
  events: { progress: modelPullProgressSchema, done: modelPullSchema, error: problemSchema },
} as const;

const replayedAnswer = {
  status: 204,
  when: "`Last-Event-ID` is the end of the pull: there are no more events, and no new pull is started.",
  schema: null,
} as const;

const pullDescription =
  "A model is pulled only once, regardless of the number of requests and replicas. A pull that was interrupted or cancelled resumes from the data already downloaded. Models can only be pulled to an Ollama server.";

/** Language models: the catalog, and pulling models to Ollama. */
export const modelEndpoints = {
  listModels: {
    ...route("GET", "models:read", "List models"),
    description:
      "The models of every configured provider and those that can be installed on Ollama, installed ones first. Providers that do not respond within two seconds are listed in `unreachable`. `q` searches the IDs.",
    query: listQuery,
    answers: [{ status: 200, when: "One page.", schema: modelListSchema }],
    example: { query: { limit: "20" } },
  },
  followPull: {
    ...route("GET /{catalogId}/pull", "models:write", "Pull a model and follow its progress"),
    description: `Starts the pull, or joins a running one. ${pullDescription}`,
    params,
    requestHeaders,
    answers: [installed, pulling, streamed, replayedAnswer],
    errors: ["pull_cancelled", "pull_failed", "disk_full"],
  },
  pullModel: {
    ...route("POST /{catalogId}/pull", "models:write", "Pull a model"),
    description: `Same as GET. ${pullDescription}`,
    params,
    requestHeaders,
    answers: [installed, pulling, streamed, replayedAnswer],
    errors: ["pull_cancelled", "pull_failed", "disk_full"],
  },
  cancelPull: {
    ...route("DELETE /{catalogId}/pull", "models:write", "Cancel the pull of a model"),
    description: "Cancels the pull for all clients that follow it. An installed model is not removed.",
    params,
    answers: [{ status: 200, when: "Cancelled.", schema: modelPullSchema }],
  },
} as const satisfies Record<string, Endpoint>;
