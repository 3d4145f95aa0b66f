/** Which API a provider speaks: that of OpenAI, as most servers do, or that of Anthropic. */
export type ModelApi = "openai" | "anthropic";

/** A server with language models. */
export interface ModelProviderConfig {
  /** Begins the ids of its models in the catalogue. */
  name: string;
  api: ModelApi;
  /** As in `http://localhost:11434/v1`. */
  baseUrl: string;
  apiKey?: string;
}

/** US dollars for a million tokens. */
export interface ModelPrice {
  input: number;
  output: number;
}

/** The language models of an installation. */
export interface ModelsConfig {
  /** The first is that of models which are named without a provider. */
  providers: readonly ModelProviderConfig[];
  /** What agents use that name no model; null: those use none. */
  defaultModel: string | null;
  /** How long an answer may take in all. */
  timeoutMs: number;
  /** By id in the catalogue, or by name at any provider. */
  prices: Readonly<Record<string, ModelPrice>>;
}
