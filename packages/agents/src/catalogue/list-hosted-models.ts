import type { ModelApi, ModelProviderConfig } from "../models/models-config.ts";
import { fetchJson } from "./fetch-json.ts";
import type { CatalogueModel } from "./model-catalogue.ts";
import { MAX_MODELS, countOf, entriesOf, fieldsOf, nameOf } from "./read-fields.ts";

/** Where models are listed, and what is sent along. */
const REQUESTS: Record<ModelApi, (provider: ModelProviderConfig) => { path: string; headers: Record<string, string> }> =
  {
    openai: ({ apiKey }) => ({
      path: "/models",
      headers: apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` },
    }),
    anthropic: ({ apiKey = "" }) => ({
      path: "/models?limit=1000",
      headers: { "x-api-key": apiKey, "anthropic-version": "2023-06-01" },
    }),
  };

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** The models of a provider that has them ready, in the shape of its API. Rejects with a `ProviderError`. */
export async function listHostedModels(provider: ModelProviderConfig, signal: AbortSignal): Promise<CatalogueModel[]> {
  const { path, headers } = REQUESTS[provider.api](provider);
  const answer = await fetchJson(`${provider.baseUrl.replace(/\/+$/, "")}${path}`, { headers, signal });
  const local = LOOPBACK.test(new URL(provider.baseUrl).hostname);
  return entriesOf(fieldsOf(answer)["data"], MAX_MODELS).flatMap((entry): CatalogueModel[] => {
    const name = nameOf(entry["id"]);
    if (name === null) return [];
    const meta = fieldsOf(entry["meta"]);
    return [
      {
        catalogId: `${provider.name}:${name}`,
        name,
        provider: provider.name,
        local,
        // llama.cpp tells the size of its file.
        sizeBytes: countOf(meta["size"]),
        installed: true,
        // No two servers call it the same: vLLM, OpenRouter, LM Studio, Groq, Anthropic, llama.cpp.
        contextWindow: countOf(
          entry["max_model_len"],
          entry["context_length"],
          entry["max_context_length"],
          entry["context_window"],
          entry["max_input_tokens"],
          meta["n_ctx_train"],
        ),
      },
    ];
  });
}
