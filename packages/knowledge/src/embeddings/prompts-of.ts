/** What a model wants to have before a query and before a passage. */
export interface EmbeddingPrompts {
  query: string;
  document: string;
}

const NONE: EmbeddingPrompts = { query: "", document: "" };
const SEARCHING = { query: "Represent this sentence for searching relevant passages: ", document: "" };

/** Models that were trained with such words, by their names, as their model cards say. The first that fits counts. */
const PROMPTS: readonly (readonly [RegExp, EmbeddingPrompts])[] = [
  [/nomic-embed-text/, { query: "search_query: ", document: "search_document: " }],
  [
    /e5-mistral|e5-.*-instruct/,
    { query: "Instruct: Given a question, retrieve passages that answer it\nQuery: ", document: "" },
  ],
  [/\be5-/, { query: "query: ", document: "passage: " }],
  [/mxbai-embed-large/, SEARCHING],
  [/bge-(?:small|base|large)-en/, SEARCHING],
  [/snowflake-arctic-embed(?:2|-.*v2)/, { query: "query: ", document: "" }],
  [/snowflake-arctic-embed/, SEARCHING],
  [/embeddinggemma/, { query: "task: search result | query: ", document: "title: none | text: " }],
  [/qwen3-embedding/, { query: "Instruct: Given a question, retrieve passages that answer it\nQuery:", document: "" }],
];

/**
 * The words that a model wants before its texts; none for a model that is not known to want any. Without them the
 * models that were trained with them still work, but worse. Changed words mean other embeddings: after a change of this
 * list, the passages of the model must be embedded again.
 */
export function promptsOf(model: string): EmbeddingPrompts {
  const name = model.toLowerCase();
  return PROMPTS.find(([pattern]) => pattern.test(name))?.[1] ?? NONE;
}
