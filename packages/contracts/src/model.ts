import { z } from "zod";
import { listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { problemSchema } from "./errors.ts";
import { cursorSchema, decodeTextCursor, encodeTextCursor, listFields } from "./list-query.ts";
import { maskedSchema, secretSchema } from "./secret.ts";
import { parseUrl, textUpTo } from "./limits.ts";

/** Limits of the model catalog. */
export const MODEL_LIMITS = {
  /** Maximum characters of a model's catalog ID. */
  catalogIdMaxChars: 300,
  /** Number of consecutive attempts without progress before a pull fails. */
  pullMaxTries: 5,
  /** Maximum duration of a pull. */
  pullMaxHours: 24,
  baseUrlMaxChars: 2_000,
  modelMaxChars: 200,
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

/** API that a server with language models implements. */
export const modelApiSchema = z.enum(["openai", "anthropic"]);

/** Returns whether a URL can be that of a server with language models: HTTP, without credentials or a fragment. */
function isServerUrl(text: string): boolean {
  const url = parseUrl(text);
  return (
    url !== null &&
    /^https?:$/u.test(url.protocol) &&
    url.username + url.password + url.hash === "" &&
    url.search === ""
  );
}

/** A server with language models, and the model that agents use unless they name their own. Unknown fields are rejected. */
export const modelSettingsInputSchema = z.strictObject({
  baseUrl: textUpTo(MODEL_LIMITS.baseUrlMaxChars)
    .refine(isServerUrl, { error: "must be an http or https URL without credentials, query and fragment" })
    .describe("URL of the server's API, for example `http://localhost:11434/v1`."),
  api: modelApiSchema.optional().describe("By default `anthropic` for `api.anthropic.com`, otherwise `openai`."),
  apiKey: secretSchema
    // Like SVC_LLM_API_KEY: headers allow no other characters, and an error about one would contain the key.
    .refine((key) => key === null || /^[\x21-\x7e]*$/u.test(key), { error: "must be printable ASCII without spaces" })
    .optional()
    .describe("API key of the server. The placeholder, or no value, keeps the stored key for the same `baseUrl`."),
  model: textUpTo(MODEL_LIMITS.modelMaxChars)
    .nullable()
    .default(null)
    .describe("Model of agents that name none. Null: only agents that name a model use one."),
});
export type ModelSettingsInput = z.input<typeof modelSettingsInputSchema>;

/** The server with language models that the service uses first. */
export const modelSettingsSchema = z.object({
  ok: z.literal(true),
  source: z
    .enum(["environment", "stored"])
    .nullable()
    .describe("`environment`: set by environment variables, which cannot be changed here. Null: no server is set."),
  baseUrl: z.string().nullable(),
  api: modelApiSchema.nullable(),
  apiKey: maskedSchema,
  model: z.string().nullable(),
});
export type ModelSettings = z.infer<typeof modelSettingsSchema>;

/** Result of a test of model settings. */
export const modelTestSchema = z.object({
  ok: z.literal(true),
  models: z.array(z.string()).describe("Names of the models that the server has, at most 1,000."),
  problem: z
    .string()
    .nullable()
    .describe("Why the server or the model cannot be used, and what to do. Null if the model has answered."),
  ms: z.int().describe("Duration of the model's answer. 0 if no model was asked."),
});

/** Model servers that were found without any settings. */
export const modelServersSchema = z.object({
  ok: z.literal(true),
  items: z.array(z.object({ baseUrl: z.string(), models: z.array(z.string()) })),
});

const settingsRoute = routesAt("Models", "/api/v1/admin/model-settings");
const SETTINGS_EXAMPLE = { baseUrl: "http://localhost:8080/v1", model: "qwen3-8b" };

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
  getModelSettings: {
    ...settingsRoute("GET", "admin:*", "Get the model settings"),
    answers: [{ status: 200, when: "The settings. The API key is masked.", schema: modelSettingsSchema }],
  },
  setModelSettings: {
    ...settingsRoute("PUT", "admin:*", "Set the model settings"),
    description:
      "Every process uses the new settings within two seconds, without a restart. They apply to all projects. Environment variables take precedence: while `SVC_LLM_BASE_URL` is set, or a variable for the same provider, this fails with `invalid_request`.",
    body: { schema: modelSettingsInputSchema },
    answers: [{ status: 200, when: "Stored.", schema: modelSettingsSchema }],
    example: { body: SETTINGS_EXAMPLE },
  },
  removeModelSettings: {
    ...settingsRoute("DELETE", "admin:*", "Remove the model settings"),
    description: "Agents quote their knowledge bases from then on.",
    answers: [{ status: 200, when: "Removed.", schema: modelSettingsSchema }],
  },
  testModelSettings: {
    ...settingsRoute("POST /test", "admin:*", "Test model settings"),
    description:
      "Lists the models of the server and asks the given one a tiny question, with the same request as an agent's. Nothing is stored. Takes up to 30 s if the server must load the model first.",
    body: { schema: modelSettingsInputSchema },
    answers: [{ status: 200, when: "Tested, whether or not the model can be used.", schema: modelTestSchema }],
    example: { body: SETTINGS_EXAMPLE },
  },
  findModelServers: {
    ...settingsRoute("GET /servers", "admin:*", "Find model servers"),
    description: "Looks for an Ollama server on this machine, on the Docker host, and in the service's own network.",
    answers: [{ status: 200, when: "The servers that respond.", schema: modelServersSchema }],
  },
} as const satisfies Record<string, Endpoint>;
