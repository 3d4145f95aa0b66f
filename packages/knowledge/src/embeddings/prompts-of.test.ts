import { expect, test } from "@jest/globals";
import { promptsOf } from "./prompts-of.ts";

test.each([
  ["nomic-embed-text", "search_query: ", "search_document: "],
  ["nomic-ai/nomic-embed-text-v1.5-GGUF:Q8_0", "search_query: ", "search_document: "],
  ["intfloat/multilingual-e5-large", "query: ", "passage: "],
  ["snowflake-arctic-embed2", "query: ", ""],
  ["Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""],
  ["snowflake-arctic-embed:22m", "Represent this sentence for searching relevant passages: ", ""],
  ["mxbai-embed-large:latest", "Represent this sentence for searching relevant passages: ", ""],
  ["bge-m3", "", ""],
  ["all-minilm", "", ""],
  ["text-embedding-3-small", "", ""],
])("%s gets the words that it was trained with", (model, query, document) => {
  expect(promptsOf(model)).toEqual({ query, document });
});
