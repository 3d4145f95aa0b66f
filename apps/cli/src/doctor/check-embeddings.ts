import { EmbeddingError } from "@svc/knowledge";
import type { Embeddings } from "@svc/knowledge";
import type { Store } from "@svc/store";
import type { Check } from "./check.ts";

const NAME = "Embeddings";

/** A server that has to load its model takes a while; one that is in order answers within this time. */
const DEADLINE_MS = 20_000;

const ADVICE =
  "Searches go by words alone until it answers. Correct SVC_EMBEDDINGS_BASE_URL, SVC_EMBEDDINGS_MODEL or SVC_EMBEDDINGS_API_KEY, or start that server.";

/** Whether the endpoint makes embeddings; null, or why not. */
async function findFault({ embedder }: Embeddings): Promise<string | null> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  try {
    const [embedding] = await embedder.embedTexts(["test"], deadline);
    return embedding == null ? "it gives no embedding of a single word" : null;
  } catch (error) {
    if (error instanceof EmbeddingError) return error.message;
    if (deadline.aborted) return `it has not answered within ${DEADLINE_MS} ms`;
    throw error;
  }
}

/**
 * Checks that the embedding endpoint answers, and how many passages have an embedding. Nothing where none is
 * configured: searches by words alone are in order.
 */
export async function checkEmbeddings(store: Store, embeddings: Embeddings | null): Promise<Check[]> {
  if (embeddings === null) return [];
  const { model } = embeddings.embedder;
  const fault = await findFault(embeddings);
  const { passages, embedded, refused } = await store.chunkEmbeddings.count(model);
  const state = `${model}: ${embedded} of ${passages} passages have an embedding${refused > 0 ? `, ${refused} cannot have one` : ""}`;
  if (fault !== null) {
    return [{ name: NAME, status: "warn", detail: `${state}; the endpoint does not work: ${fault}`, advice: ADVICE }];
  }
  const isDone = embedded + refused >= passages;
  const advice = "Hint: the pipeline makes the others while it runs.";
  return [{ name: NAME, status: "ok", detail: state, ...(isDone ? {} : { advice }) }];
}
