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
    .describe("Id of the model in the catalogue, percent-encoded: `ollama%3Allama3.2%3A3b`."),
});

const requestHeaders = z.object({
  "Last-Event-ID": z.string().optional().describe("The last event of a stream that was cut: the answer goes on there."),
});

const installed = { status: 200, when: "The model is installed.", schema: modelPullSchema } as const;
const pulling = {
  status: 202,
  when: "It is being pulled. The same call tells later how far that is.",
  schema: modelPullSchema,
} as const;

const streamed = {
  status: 200,
  when: "With `Accept: text/event-stream`: `progress` again and again, then `done`, or `error` with the problem; each with an id, and a comment every 15 s. Whoever hangs up does not stop the pull.",
  schema: null,
  mediaType: "text/event-stream",
  events: { progress: modelPullProgressSchema, done: modelPullSchema, error: problemSchema },
} as const;

const alreadyTold = {
  status: 204,
  when: "`Last-Event-ID` names the end of the pull: there is nothing more to tell, and nothing is begun.",
  schema: null,
} as const;

const pullDescription =
  "However many ask, on whatever replica, a model is pulled once. What was downloaded by a pull that was cut off or cancelled is not downloaded again. Only an Ollama server can be pulled to.";

/** Language models: what there is, and pulling them to Ollama. */
export const modelEndpoints = {
  listModels: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List models",
    description:
      "The models of every configured provider, and those that can be installed on Ollama; installed ones first. A provider that does not answer within two seconds is told in `unreachable`. `q` is looked for in the ids.",
    scope: "models:read",
    query: listQuerySchema,
    answers: [{ status: 200, when: "One page.", schema: modelListSchema }],
    example: { query: { limit: "20" } },
  },
  followPull: {
    method: "GET",
    path: PULL_PATH,
    tag,
    summary: "Pull a model, and follow how far it is",
    description: `Begins the pull, or joins the one that goes on. ${pullDescription}`,
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
    description: `The same as with GET. ${pullDescription}`,
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
    description: "For everybody who follows it: they are told so. What is installed stays.",
    scope: "models:write",
    params,
    answers: [{ status: 200, when: "It was cancelled, as far as it was.", schema: modelPullSchema }],
  },
} as const satisfies Record<string, Endpoint>;
