import type { LanguageModels } from "@svc/agents";
import { localAdministrator } from "@svc/auth";
import type { KbItem } from "@svc/contracts";
import { EmbeddingError } from "@svc/knowledge";
import type { Embeddings, ModelFolder } from "@svc/knowledge";
import { listKbs } from "@svc/operations";
import type { Store } from "@svc/store";
import type { ApiState } from "../api-client.ts";
import type { Cli } from "../cli.ts";
import { ok, warn } from "./check.ts";
import type { Check } from "./check.ts";
import { listAllKbs } from "../as-administrator.ts";
import { safeLine } from "../terminal.ts";

const KNOWLEDGE = "Knowledge";

/** Returns a number with its noun, as in "2 documents". */
const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;

/** Returns advice with the command that shows the documents of a knowledge base. */
function adviceFor({ self }: Cli, { name, project }: KbItem): string {
  return `Check the errors, fix the documents and add them again: ${self} kb list --kb ${safeLine(name, 80)} --project ${project}`;
}

/** Checks the knowledge bases of all projects: their size, and documents that could not be read. */
export async function checkKnowledge(cli: Cli, store: Store): Promise<Check> {
  const kbs: KbItem[] = [];
  for (const project of await store.projects.list())
    kbs.push(...(await listAllKbs({ listKbs: (page) => listKbs({ store }, localAdministrator(project), page) })));
  const sum = (of: (kb: KbItem) => number) => kbs.reduce((total, kb) => total + of(kb), 0);
  const failed = sum((kb) => kb.failed);
  const queued = sum((kb) => kb.queued);
  const detail = [
    count(kbs.length, "knowledge base"),
    count(
      sum((kb) => kb.chunks),
      "passage",
    ),
    ...(queued > 0 ? [`${count(queued, "document")} waiting`] : []),
    ...(failed > 0 ? [`${count(failed, "document")} could not be read`] : []),
  ].join(", ");
  const bad = kbs.find((kb) => kb.failed > 0);
  return bad === undefined ? ok(KNOWLEDGE, detail) : warn(KNOWLEDGE, detail, adviceFor(cli, bad));
}

const EMBEDDINGS = "Embeddings";

/** A server that has to load its model takes a while; a working one responds within this time. */
const EMBEDDING_DEADLINE_MS = 20_000;

const SERVER_ADVICE =
  "Searches use keywords only until it responds. Correct SVC_EMBEDDINGS_BASE_URL, SVC_EMBEDDINGS_MODEL or SVC_EMBEDDINGS_API_KEY, or start the server.";
const FOLDER_ADVICE =
  "Searches use keywords only until it works. Put a supported model into the folder SVC_EMBEDDINGS_DIR (docs/models.md) and restart.";

/** Returns the dimensions of an embedding, or why there is none. */
async function probe({ embedder }: Embeddings): Promise<{ dimensions: number } | { problem: string }> {
  const deadline = AbortSignal.timeout(EMBEDDING_DEADLINE_MS);
  try {
    const [embedding] = await embedder.embedTexts(["test"], deadline);
    if (embedding == null) return { problem: "it returned no embedding for a single word" };
    return { dimensions: embedding.length };
  } catch (error) {
    if (error instanceof EmbeddingError) return { problem: error.message };
    if (deadline.aborted) return { problem: `it did not respond within ${EMBEDDING_DEADLINE_MS} ms` };
    throw error;
  }
}

/** Returns the description of a loaded model; an empty text for the model of a server. */
function describe(folder: ModelFolder | null): string {
  if (folder === null) return "";
  const { dir, weights, weightsBytes, pooling, maxTokens } = folder;
  const size = `${Math.ceil(weightsBytes / 1_000_000)} MB`;
  return ` from ${dir} (${weights}, ${size}, pooling ${pooling}, the first ${maxTokens} tokens of a text)`;
}

/**
 * Checks that the embedding endpoint responds or the model in the folder can be loaded, its dimensions, and how many
 * passages have an embedding. Shows nothing if neither is configured: keyword search works without.
 */
export async function checkEmbeddings(store: Store, embeddings: Embeddings | null): Promise<Check[]> {
  if (embeddings === null) return [];
  const { model, folder } = embeddings.embedder;
  const found = await probe(embeddings);
  const { passages, embedded, refused } = await store.chunkEmbeddings.count(model);
  const numbers = "dimensions" in found ? ` with ${found.dimensions} dimensions` : "";
  const state = `${model}${describe(folder)}: ${embedded} of ${passages} passages have an embedding${numbers}${refused > 0 ? `, ${refused} cannot have one` : ""}`;
  if ("problem" in found) {
    const what = folder === null ? "the endpoint" : "the model";
    const advice = folder === null ? SERVER_ADVICE : FOLDER_ADVICE;
    return [warn(EMBEDDINGS, `${state}; ${what} does not work: ${found.problem}`, advice)];
  }
  const isDone = embedded + refused >= passages;
  const hint = "Hint: the pipeline creates the missing embeddings while it is running.";
  return [ok(EMBEDDINGS, state, isDone ? undefined : hint)];
}

const MODELS = "Models";

/** A server that has to load its model takes a while; a working one responds within this time. */
const MODEL_DEADLINE_MS = 30_000;

const MODEL_ADVICE =
  "Agents quote their knowledge bases until it responds. Correct SVC_LLM_BASE_URL, SVC_LLM_MODEL or SVC_LLM_API_KEY (SVC_ANTHROPIC_API_KEY for Anthropic models), or start the server.";

/** Returns why the configured model does not answer a short question; null if it does. */
async function findProblem(models: LanguageModels): Promise<string | null> {
  const deadline = AbortSignal.timeout(MODEL_DEADLINE_MS);
  try {
    return (await models.findProblem(deadline))?.message ?? null;
  } catch (error) {
    if (deadline.aborted) return `it did not respond within ${MODEL_DEADLINE_MS} ms`;
    throw error;
  }
}

const NONE_HERE = "none configured in this environment (SVC_LLM_BASE_URL)";

/** Returns the check of the running service's models if this environment has none; agents that quote need none. */
function checkService(state: ApiState): Check {
  const models = state.kind === "ours" ? state.models : "unknown";
  if (models === "unknown") {
    return ok(MODELS, `${NONE_HERE}; a service with other settings may have one`);
  }
  if (models === null) return ok(MODELS, "none configured: agents quote their knowledge bases");
  const detail = `${NONE_HERE}; the running service: ${models.detail}`;
  if (models.status === "pass") return ok(MODELS, detail);
  return warn(MODELS, detail, MODEL_ADVICE);
}

/**
 * Asks the configured model one short question. If none is configured here, `probe` returns the state of the running
 * service's models.
 */
export async function checkModels(models: LanguageModels | null, probe: () => Promise<ApiState>): Promise<Check[]> {
  if (models === null || (await models.config()) === null) return [checkService(await probe())];
  const model = await models.forAgent({ model: null });
  if (model === null) {
    const detail = "SVC_LLM_MODEL is not set, so only agents with their own model use one";
    return [ok(MODELS, detail)];
  }
  const problem = await findProblem(models);
  if (problem === null) return [ok(MODELS, `${model.id} responds`)];
  return [warn(MODELS, `${model.id} is not usable: ${problem}`, MODEL_ADVICE)];
}
