import { z } from "zod";
import { problemSchema } from "../errors.ts";
import { MODEL_LIMITS, modelListSchema, modelPullProgressSchema, modelPullSchema } from "../model.ts";
import { listQuerySchema } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Models";
const PATH = "/api/v1/admin/models";
const PULL_PATH = `${PATH}/{catalogId}/pull`;

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

const alreadyTold = {
  status: 204,
  when: "`Last-Event-ID` is the end of the pull: there are no more events, and no new pull is started.",
  schema: null,
} as const;

const pullDescription =
  "A model is pulled only once, regardless of the number of requests and replicas. A pull that was interrupted or cancelled resumes from the data already downloaded. Models can only be pulled to an Ollama server.";

/** Language models: the catalog, and pulling models to Ollama. */
export const modelEndpoints = {
  listModels: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List models",
    description:
      "The models of every configured provider and those that can be installed on Ollama, installed ones first. Providers that do not respond within two seconds are listed in `unreachable`. `q` searches the IDs.",
    scope: "models:read",
    query: listQuerySchema,
    answers: [{ status: 200, when: "One page.", schema: modelListSchema }],
    example: { query: { limit: "20" } },
  },
  followPull: {
    method: "GET",
    path: PULL_PATH,
    tag,
    summary: "Pull a model and follow its progress",
    description: `Starts the pull, or joins a running one. ${pullDescription}`,
    scope: "models:write",
    params,
    requestHeaders,
    answers: [installed, pulling, streamed, alreadyTold],
    errors: ["pull_cancelled", "pull_failed", "disk_full"],
  },
  pullModel: {
    method: "POST",
    path: PULL_PATH,
    tag,
    summary: "Pull a model",
    description: `Same as GET. ${pullDescription}`,
    scope: "models:write",
    params,
    requestHeaders,
    answers: [installed, pulling, streamed, alreadyTold],
    errors: ["pull_cancelled", "pull_failed", "disk_full"],
  },
  cancelPull: {
    method: "DELETE",
    path: PULL_PATH,
    tag,
    summary: "Cancel the pull of a model",
    description: "Cancels the pull for all clients that follow it. An installed model is not removed.",
    scope: "models:write",
    params,
    answers: [{ status: 200, when: "Cancelled.", schema: modelPullSchema }],
  },
} as const satisfies Record<string, Endpoint>;
