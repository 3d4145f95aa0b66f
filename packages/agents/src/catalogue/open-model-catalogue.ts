import {
  MAX_MODELS,
  PullError,
  asProviderError,
  countOf,
  createOllama,
  entriesOf,
  fetchJson,
  fieldsOf,
  nameOf,
} from "./create-ollama.ts";
import type { CatalogueModel, Ollama, ProviderError } from "./create-ollama.ts";
import { MODEL_LIMITS, ServiceError } from "@svc/contracts";
import type { UnreachableProvider } from "@svc/contracts";
import type { ModelProviderConfig, ModelsConfig, ModelApi } from "../models/language-model.ts";
import { pullFromOllama } from "./pull-from-ollama.ts";
import type { PullOptions } from "./pull-from-ollama.ts";

/** A model that can be pulled, and whether it is installed. */
interface PullableModel {
  /** Full id in the catalogue, with its tag. */
  catalogId: string;
  /** Size on disk, in bytes; null while it is not installed. */
  installedBytes: number | null;
}

/** The available models: those of every configured provider, and those that can be installed on Ollama. */
export interface ModelCatalogue {
  /**
   * Returns what every provider has. Providers that do not respond within two seconds are listed in `unreachable`.
   * Never rejects.
   */
  list(): Promise<{ models: CatalogueModel[]; unreachable: UnreachableProvider[] }>;
  /**
   * Returns the model with this id if it can be pulled. `ollama:` is a prefix for every Ollama server, whatever its
   * provider's name. Throws ServiceError: not_found for an unknown provider, invalid_request for an id that is not a
   * model's or a model that cannot be pulled, unavailable while Ollama does not respond.
   */
  findPullable(catalogId: string): Promise<PullableModel>;
  /**
   * Returns the full ids that an id may refer to: several if `ollama:` names no provider, none if it is not a model's.
   */
  idsOf(catalogId: string): string[];
  /**
   * Pulls the model with this id, as returned by `findPullable`, and resolves when it is installed. Layers from an
   * earlier pull are not downloaded again. Rejects with a `PullError`, or with the reason of the signal.
   */
  pull(catalogId: string, options: PullOptions): Promise<void>;
}

/** Registries from which Ollama may pull. With any other host, a caller could make this network connect anywhere. */
const HOSTS: ReadonlySet<string> = new Set(["registry.ollama.ai", "ollama.com", "hf.co", "huggingface.co"]);

const PART = String.raw`[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?!\.))*`;
const NAME = new RegExp(`^${PART}(?:/${PART}){0,2}(?::${PART})?$`);
const MAX_CHARS = 250;

/** Default tag of a name without one. */
const DEFAULT_TAG = "latest";

/** Path of the model list of each API, and its headers. */
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

/** Time limit for a provider's response, in milliseconds. */
const ANSWER_MS = 2_000;
/** Prefix of the ids of Ollama's models. */
const OLLAMA = "ollama";

/** Setting with the address of each provider. */
const SETTINGS: Readonly<Record<string, string>> = {
  ollama: "SVC_OLLAMA_BASE_URL or SVC_LLM_BASE_URL",
  anthropic: "SVC_ANTHROPIC_BASE_URL and SVC_ANTHROPIC_API_KEY",
};
const settingOf = ({ name }: ModelProviderConfig) => SETTINGS[name] ?? "SVC_LLM_BASE_URL and SVC_LLM_API_KEY";

/** Message to a caller about a provider that does not respond. */
function unavailableError(provider: ModelProviderConfig, error: ProviderError): ServiceError {
  const start = provider.name === OLLAMA ? "Start it with: ollama serve. Or check" : "Check";
  const detail = `${provider.name} ${error.message}. ${start} ${settingOf(provider)}.`;
  return new ServiceError("unavailable", detail, { headers: { "Retry-After": "5" }, cause: error });
}

interface Entry {
  provider: ModelProviderConfig;
  /** Null if the provider's API shows that it is not Ollama. */
  ollama: Ollama | null;
}

/**
 * Opens the catalogue of a configuration; without one there are no models. Makes no request before it is used. Each
 * provider has `answerMs` to respond.
 */
export function openModelCatalogue(
  config: ModelsConfig | undefined,
  { answerMs = ANSWER_MS }: { answerMs?: number } = {},
): ModelCatalogue {
  const entries = (config?.providers ?? []).map((provider): Entry => ({
    provider,
    ollama: provider.api === "openai" ? createOllama(provider) : null,
  }));

  return {
    async list() {
      const answers = await Promise.all(entries.map((entry) => tryToList(entry, answerMs)));
      const models = answers.flatMap((answer) => (Array.isArray(answer) ? answer : []));
      const unreachable = answers.flatMap((answer) => (Array.isArray(answer) ? [] : [answer]));
      return { models: [...new Map(models.map((model) => [model.catalogId, model])).values()], unreachable };
    },

    async findPullable(catalogId) {
      const { prefix, name: given } = partsOf(catalogId);
      const signal = AbortSignal.timeout(answerMs);
      const { provider, ollama } = await findOllama(entries, prefix, signal);
      const name = readOllamaName(given);
      if (name === null) {
        const detail =
          "This is not a valid model name. Use a name such as llama3.2:3b, user/model:tag or hf.co/user/model:tag.";
        throw new ServiceError("invalid_request", detail);
      }
      try {
        const installed = (await ollama.listInstalled(signal)).find((model) => model.name === name);
        const installedBytes = installed === undefined ? null : (installed.sizeBytes ?? 0);
        return { catalogId: `${provider.name}:${name}`, installedBytes };
      } catch (error) {
        throw unavailableError(provider, asProviderError(error, signal));
      }
    },

    idsOf(catalogId) {
      const at = catalogId.indexOf(":");
      const name = readOllamaName(catalogId.slice(at + 1));
      if (at <= 0 || name === null) return [];
      const providers = candidatesOf(entries, catalogId.slice(0, at)).filter(({ ollama }) => ollama !== null);
      return providers.map(({ provider }) => `${provider.name}:${name}`);
    },

    async pull(catalogId, options) {
      const { prefix, name } = partsOf(catalogId);
      const ollama = entries.find(({ provider }) => provider.name === prefix)?.ollama ?? null;
      if (ollama === null) {
        const detail = `Models can no longer be pulled to ${prefix}. Check the settings.`;
        throw new PullError("pull_failed", detail, { isFinal: true });
      }
      await pullFromOllama(ollama.target, name, options);
    },
  };
}

async function listModelsOf({ provider, ollama }: Entry, signal: AbortSignal): Promise<CatalogueModel[]> {
  if (ollama === null) return listHostedModels(provider, signal);
  if (provider.name === OLLAMA) return ollama.listModels(signal);
  // Requested concurrently, so that a provider that is not Ollama but is slow to say so still has its full time.
  const hosted = listHostedModels(provider, signal);
  const [isOllama, listed] = await Promise.all([
    ollama.isThere(signal),
    hosted.then(
      (models) => ({ models }),
      (error: unknown) => ({ error }),
    ),
  ]);
  if (isOllama) return ollama.listModels(signal);
  if ("error" in listed) throw listed.error;
  return listed.models;
}

async function tryToList(entry: Entry, answerMs: number): Promise<CatalogueModel[] | UnreachableProvider> {
  const signal = AbortSignal.timeout(answerMs);
  try {
    return await listModelsOf(entry, signal);
  } catch (error) {
    const { message } = asProviderError(error, signal);
    const { provider } = entry;
    return { provider: provider.name, detail: `${provider.name} ${message}. Check ${settingOf(provider)}.` };
  }
}

/** Returns the providers that an id's prefix may refer to: any, if none is named `ollama`. */
function candidatesOf(entries: Entry[], prefix: string): Entry[] {
  const named = entries.filter(({ provider }) => provider.name === prefix);
  return named.length === 0 && prefix === OLLAMA ? entries : named;
}

/** Finds the Ollama server of an id's prefix; without a provider's name, the one that responds. */
async function findOllama(entries: Entry[], prefix: string, signal: AbortSignal): Promise<Entry & { ollama: Ollama }> {
  for (const { provider, ollama } of candidatesOf(entries, prefix)) {
    if (ollama === null) continue;
    if (provider.name === OLLAMA || (await ollama.isThere(signal))) return { provider, ollama };
  }
  const named = entries.find(({ provider }) => provider.name === prefix);
  if (named !== undefined) {
    await listHostedModels(named.provider, signal).catch((error: unknown) => {
      throw unavailableError(named.provider, asProviderError(error, signal));
    });
    throw new ServiceError(
      "invalid_request",
      `Models of ${prefix} cannot be pulled: only Ollama supports pulling, and no Ollama responds there. The provider of ${prefix} manages its own models.`,
    );
  }
  if (prefix === OLLAMA) {
    const what =
      entries.length === 0 ? "No Ollama is configured." : "None of the configured servers is an Ollama server.";
    throw new ServiceError("not_found", `${what} Set SVC_OLLAMA_BASE_URL, as in http://localhost:11434.`);
  }
  throw new ServiceError(
    "not_found",
    "No configured provider has a model with this ID. IDs of Ollama models start with ollama:.",
  );
}

/** Splits an id into its parts. */
function partsOf(catalogId: string): { prefix: string; name: string } {
  const at = catalogId.indexOf(":");
  if (at > 0 && catalogId.length <= MODEL_LIMITS.catalogIdMaxChars) {
    return { prefix: catalogId.slice(0, at), name: catalogId.slice(at + 1) };
  }
  const detail = "A model ID consists of the provider, a colon and the model's name, such as ollama:llama3.2:3b.";
  throw new ServiceError("invalid_request", detail);
}

/** Lists the models of a provider, in the shape of its API. Rejects with a `ProviderError`. */
async function listHostedModels(provider: ModelProviderConfig, signal: AbortSignal): Promise<CatalogueModel[]> {
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
        // llama.cpp reports the size of its file.
        sizeBytes: countOf(meta["size"]),
        installed: true,
        // The field's name differs: vLLM, OpenRouter, LM Studio, Groq, Anthropic, llama.cpp.
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

/**
 * Returns a model's name as Ollama stores it, with its tag: `llama3.2` is `llama3.2:latest`, and
 * `hf.co/user/model:Q4_K_M` stays as it is. Null for an invalid name and for an unknown registry.
 */
export function readOllamaName(text: string): string | null {
  if (text.length > MAX_CHARS || !NAME.test(text)) return null;
  const [path = "", tag = DEFAULT_TAG] = text.split(":");
  const parts = path.split("/");
  const [host = ""] = parts;
  if (parts.length === 3 && !HOSTS.has(host.toLowerCase())) return null;
  return `${path}:${tag}`;
}
