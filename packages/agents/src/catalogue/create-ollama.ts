import type { Model } from "@svc/contracts";
import type { ModelProviderConfig } from "../models/language-model.ts";
import { fetchJson, MAX_MODELS, countOf, entriesOf, fieldsOf, nameOf } from "./fetch-json.ts";

/** A model of Ollama's library that can be installed. */
interface InstallableModel {
  /** As in `llama3.2:3b`. */
  name: string;
  /** What it takes on the disk, about: the library says it rounded, and a name may stand for another file by now. */
  sizeBytes: number;
  /** In tokens. */
  contextWindow: number;
}

const MB = 1_000_000;

/**
 * Well-known models of Ollama's library (https://ollama.com/library) that answer in sensible time on an ordinary
 * machine, by their families. Any other one can be pulled by its name.
 */
const INSTALLABLE_MODELS: readonly InstallableModel[] = [
  { name: "gemma3:1b", sizeBytes: 815 * MB, contextWindow: 32_768 },
  { name: "gemma3:4b", sizeBytes: 3_300 * MB, contextWindow: 131_072 },
  { name: "llama3.2:1b", sizeBytes: 1_300 * MB, contextWindow: 131_072 },
  { name: "llama3.2:3b", sizeBytes: 2_000 * MB, contextWindow: 131_072 },
  { name: "mistral:7b", sizeBytes: 4_400 * MB, contextWindow: 32_768 },
  { name: "qwen2.5:0.5b", sizeBytes: 398 * MB, contextWindow: 32_768 },
  { name: "qwen2.5:1.5b", sizeBytes: 986 * MB, contextWindow: 32_768 },
  { name: "qwen2.5:3b", sizeBytes: 1_900 * MB, contextWindow: 32_768 },
  { name: "qwen2.5:7b", sizeBytes: 4_700 * MB, contextWindow: 32_768 },
  { name: "qwen3:1.7b", sizeBytes: 1_400 * MB, contextWindow: 40_960 },
  { name: "qwen3:8b", sizeBytes: 5_200 * MB, contextWindow: 40_960 },
];

/** A model that an Ollama has. */
interface InstalledModel {
  name: string;
  digest: string;
  sizeBytes: number | null;
  /** True for one that Ollama sends what it is asked to somewhere else. */
  isRemote: boolean;
}

/** Where Ollama's own API is. */
export interface OllamaTarget {
  /** Its address, without `/api`. */
  rootUrl: string;
  /** For a proxy in front of it that wants one. */
  apiKey?: string;
}

/** An Ollama server. Everything rejects with a `ProviderError`. */
export interface Ollama {
  /** Where it is asked to pull. */
  readonly target: OllamaTarget;
  /** Returns true if an Ollama responds there. Never rejects. */
  isThere(signal: AbortSignal): Promise<boolean>;
  listInstalled(signal: AbortSignal): Promise<InstalledModel[]>;
  /** The models that it has, and those that could be installed on it. */
  listModels(signal: AbortSignal): Promise<CatalogueModel[]>;
}

/** Models whose details are asked for at once. */
const SHOWN_AT_ONCE = 8;
/** Contexts that are remembered: a model with this digest never has another one. */
const MAX_REMEMBERED = 5_000;

/** The part of a provider's address that Ollama's own API is at: what is before `/v1`. */
const rootOf = (baseUrl: string) => baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "");

/** What is sent along with every request. */
export const authorizationOf = ({ apiKey }: OllamaTarget): Record<string, string> =>
  apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` };

/** Makes what asks a provider by Ollama's own API, which may be another server that does not know it. */
export function createOllama({ name: provider, baseUrl, apiKey }: ModelProviderConfig): Ollama {
  const rootUrl = rootOf(baseUrl);
  const target: OllamaTarget = { rootUrl, ...(apiKey === undefined ? {} : { apiKey }) };
  const headers = authorizationOf(target);
  const contexts = new Map<string, number | null>();

  async function listInstalled(signal: AbortSignal): Promise<InstalledModel[]> {
    const answer = await fetchJson(`${rootUrl}/api/tags`, { headers, signal });
    return entriesOf(fieldsOf(answer)["models"], MAX_MODELS).flatMap((entry): InstalledModel[] => {
      const name = nameOf(entry["name"]);
      if (name === null) return [];
      const digest = typeof entry["digest"] === "string" ? entry["digest"] : "";
      const isRemote = typeof entry["remote_host"] === "string";
      return [{ name, digest, sizeBytes: countOf(entry["size"]), isRemote }];
    });
  }

  /** How many tokens a model reads at once; null where it does not say so in time. */
  async function contextOf({ name, digest }: InstalledModel, signal: AbortSignal): Promise<number | null> {
    const known = contexts.get(`${name} ${digest}`);
    if (known !== undefined) return known;
    let info: Readonly<Record<string, unknown>>;
    try {
      const answer = await fetchJson(`${rootUrl}/api/show`, { headers, body: { model: name }, signal });
      info = fieldsOf(fieldsOf(answer)["model_info"]);
    } catch {
      // The list is worth more than what it says of one model, and is asked for again.
      return null;
    }
    const [, context] = Object.entries(info).find(([key]) => key.endsWith(".context_length")) ?? [];
    if (contexts.size >= MAX_REMEMBERED) contexts.clear();
    contexts.set(`${name} ${digest}`, countOf(context));
    return countOf(context);
  }

  return {
    target,
    async isThere(signal) {
      try {
        return typeof fieldsOf(await fetchJson(`${rootUrl}/api/version`, { headers, signal }))["version"] === "string";
      } catch {
        // Any other response means that it is no Ollama, or not now.
        return false;
      }
    },
    listInstalled,
    async listModels(signal) {
      const installed = await listInstalled(signal);
      const found: CatalogueModel[] = [];
      for (let start = 0; start < installed.length; start += SHOWN_AT_ONCE) {
        const some = installed.slice(start, start + SHOWN_AT_ONCE);
        const windows = await Promise.all(some.map((model) => contextOf(model, signal)));
        for (const [index, { name, sizeBytes, isRemote }] of some.entries()) {
          const catalogId = `${provider}:${name}`;
          const contextWindow = windows[index] ?? null;
          found.push({ catalogId, name, provider, local: !isRemote, sizeBytes, installed: true, contextWindow });
        }
      }
      return [...found, ...installableOn(provider, new Set(installed.map(({ name }) => name)))];
    },
  };
}

/** The models that could be installed on an Ollama which has those of these names. */
function installableOn(provider: string, installed: ReadonlySet<string>): CatalogueModel[] {
  return INSTALLABLE_MODELS.filter(({ name }) => !installed.has(name)).map(({ name, sizeBytes, contextWindow }) => ({
    catalogId: `${provider}:${name}`,
    name,
    provider,
    local: true,
    sizeBytes,
    installed: false,
    contextWindow,
  }));
}

/** A model of the catalogue, without what is known of its pull. */
export type CatalogueModel = Omit<Model, "pull">;
