import type { Log } from "@svc/log";
import type { Store } from "@svc/store";
import { createEmbedder } from "./create-embedder.ts";
import type { Embedder, EmbedderOptions } from "./create-embedder.ts";
import { keepVectors } from "./keep-vectors.ts";
import type { KeepVectorsOptions, KeptVectors } from "./keep-vectors.ts";

/** What a process needs to search by meaning: one for all its searches. */
export interface Embeddings {
  readonly embedder: Embedder;
  readonly vectors: KeptVectors;
  readonly log: Log;
  /** Ends requests that are on their way; to be called before the store is closed. */
  close(): Promise<void>;
}

/** Opens what it takes to search by meaning. Nothing is asked or read before the first search. */
export function openEmbeddings(
  options: EmbedderOptions & Omit<KeepVectorsOptions, "model"> & { store: Store },
): Embeddings {
  const embedder = createEmbedder(options);
  const vectors = keepVectors({ ...options, model: embedder.model });
  return {
    embedder,
    vectors,
    log: options.log,
    async close() {
      await embedder.close();
      await vectors.close();
    },
  };
}
