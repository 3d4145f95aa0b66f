import { EmbeddingError } from "@svc/knowledge";
import type { Embeddings, ModelFolder } from "@svc/knowledge";
import type { Store } from "@svc/store";
import type { Check } from "./check.ts";

const NAME = "Embeddings";

/** A server that has to load its model takes a while; one that is in order answers within this time. */
const DEADLINE_MS = 20_000;

const SERVER_ADVICE =
  "Searches use keywords only until it responds. Correct SVC_EMBEDDINGS_BASE_URL, SVC_EMBEDDINGS_MODEL or SVC_EMBEDDINGS_API_KEY, or start the server.";
const FOLDER_ADVICE =
  "Searches use keywords only until it works. Put a supported model into the folder SVC_EMBEDDINGS_DIR (docs/models.md) and restart.";

/** How many numbers an embedding has, or why there is none. */
async function probe({ embedder }: Embeddings): Promise<{ dimensions: number } | { fault: string }> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  try {
    const [embedding] = await embedder.embedTexts(["test"], deadline);
    if (embedding == null) return { fault: "it returned no embedding for a single word" };
    return { dimensions: embedding.length };
  } catch (error) {
    if (error instanceof EmbeddingError) return { fault: error.message };
    if (deadline.aborted) return { fault: `it did not respond within ${DEADLINE_MS} ms` };
    throw error;
  }
}

/** What is loaded: nothing of a server, which only it knows. */
function describe(folder: ModelFolder | null): string {
  if (folder === null) return "";
  const { dir, weights, weightsBytes, pooling, maxTokens } = folder;
  const size = `${Math.ceil(weightsBytes / 1_000_000)} MB`;
  return ` from ${dir} (${weights}, ${size}, pooling ${pooling}, the first ${maxTokens} tokens of a text)`;
}

/**
 * Checks that the embedding endpoint answers or the model in the folder can be loaded, how many numbers its embeddings
 * have, and how many passages have one. Nothing where neither is configured: searches by words alone are in order.
 */
export async function checkEmbeddings(store: Store, embeddings: Embeddings | null): Promise<Check[]> {
  if (embeddings === null) return [];
  const { model, folder } = embeddings.embedder;
  const found = await probe(embeddings);
  const { passages, embedded, refused } = await store.chunkEmbeddings.count(model);
  const numbers = "dimensions" in found ? ` with ${found.dimensions} dimensions` : "";
  const state = `${model}${describe(folder)}: ${embedded} of ${passages} passages have an embedding${numbers}${refused > 0 ? `, ${refused} cannot have one` : ""}`;
  if ("fault" in found) {
    const what = folder === null ? "the endpoint" : "the model";
    const advice = folder === null ? SERVER_ADVICE : FOLDER_ADVICE;
    return [{ name: NAME, status: "warn", detail: `${state}; ${what} does not work: ${found.fault}`, advice }];
  }
  const isDone = embedded + refused >= passages;
  const advice = "Hint: the pipeline creates the missing embeddings while it is running.";
  return [{ name: NAME, status: "ok", detail: state, ...(isDone ? {} : { advice }) }];
}
