import type { LanguageModel as SdkModel } from "ai";
import type { ModelApi, ModelProviderConfig } from "./models-config.ts";

/** The SDK's model for a name at a provider. The provider's package is loaded when it is first needed. */
type ModelMaker = (provider: ModelProviderConfig, name: string, fetch: typeof globalThis.fetch) => Promise<SdkModel>;

const MAKERS: Record<ModelApi, ModelMaker> = {
  async openai({ name: provider, baseUrl, apiKey }, name, fetch) {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    return createOpenAICompatible({
      name: provider,
      baseURL: baseUrl,
      ...(apiKey === undefined ? {} : { apiKey }),
      includeUsage: true,
      supportsStructuredOutputs: true,
      fetch,
    }).chatModel(name);
  },
  async anthropic({ baseUrl, apiKey = "" }, name, fetch) {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    // An empty key rather than none: the SDK would look for one in the environment, which one place alone reads.
    return createAnthropic({ baseURL: baseUrl, apiKey, fetch }).languageModel(name);
  },
};

/** Makes the SDK's model for a name at a provider; nothing is asked yet. */
export function createSdkModel(
  provider: ModelProviderConfig,
  name: string,
  fetch: typeof globalThis.fetch,
): Promise<SdkModel> {
  return MAKERS[provider.api](provider, name, fetch);
}
