import { modelProviderOf, openLanguageModels, openModelCatalogue } from "@svc/agents";
import type { LanguageModels, ModelsConfig } from "@svc/agents";
import { MASKED_SECRET, checkInput, invalidInput, maskOf, modelSettingsInputSchema } from "@svc/contracts";
import type { ModelSettings, ModelSettingsInput } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { Store, StoredModelSettings } from "@svc/store";
import { operation } from "./operation.ts";

/** Dependencies of operations on model settings. */
export interface ModelSettingsDeps {
  store: Store;
  log: Log;
  models: LanguageModels;
  /** Settings from the environment, which take precedence, and those of every model. */
  config: {
    models: ModelsConfig | undefined;
    modelCalls: Pick<ModelsConfig, "timeoutMs" | "prices">;
    isModelServerFixed: boolean;
  };
}

/** Timeout of a tested model: a local server may have to load it first. */
const TEST_MS = 30_000;
/** Timeout of a server during discovery. */
const FIND_MS = 1_500;

/** Default addresses of an Ollama server: on this machine, on the Docker host, or as a container. */
const USUAL_SERVERS = ["localhost", "host.docker.internal", "ollama"].map((host) => `http://${host}:11434/v1`);

/** The settings as shown. */
function asSettings(config: ModelSettingsDeps["config"], stored: StoredModelSettings | null): ModelSettings {
  const fixed = config.models?.providers[0];
  if (config.isModelServerFixed && config.models !== undefined && fixed !== undefined) {
    const { baseUrl, api, apiKey } = fixed;
    return { ok: true, source: "environment", baseUrl, api, apiKey: maskOf(apiKey), model: config.models.defaultModel };
  }
  if (stored === null) return { ok: true, source: null, baseUrl: null, api: null, apiKey: null, model: null };
  const { baseUrl, api, apiKey, model } = stored;
  return { ok: true, source: "stored", baseUrl, api, apiKey: maskOf(apiKey), model };
}

/** Throws invalid_request if the environment sets this server, because a change would have no effect. */
function requireChangeable(config: ModelSettingsDeps["config"], settings: StoredModelSettings | null): void {
  const name = settings === null ? null : modelProviderOf({ baseUrl: settings.baseUrl, api: settings.api }).name;
  const isTaken = config.models?.providers.some((provider) => provider.name === name) ?? false;
  if (!config.isModelServerFixed && !isTaken) return;
  const detail =
    "is set by environment variables (SVC_LLM_BASE_URL, SVC_OLLAMA_BASE_URL or SVC_ANTHROPIC_API_KEY), which take precedence; change them";
  throw invalidInput([{ pointer: "/baseUrl", code: "set_by_environment", detail }], "The model settings");
}

/** Returns the settings of an input. The stored key is kept only for the same server. */
async function readSettings(store: Store, input: ModelSettingsInput): Promise<StoredModelSettings> {
  const { baseUrl, api, apiKey, model } = checkInput(modelSettingsInputSchema, input, "The model settings");
  const url = baseUrl.replace(/\/+$/u, "");
  const stored = await store.installation.findModelSettings();
  const kept = stored?.baseUrl === url ? stored.apiKey : null;
  const isKept = apiKey === undefined || apiKey === MASKED_SECRET;
  const given = apiKey === null || isKept || apiKey === "" ? null : store.sealer.seal(apiKey);
  const name = model?.trim() ?? "";
  return {
    baseUrl: url,
    api: modelProviderOf({ baseUrl: url, api }).api,
    apiKey: isKept ? kept : given,
    model: name === "" ? null : name,
  };
}

/** Returns the first server with language models, and where it is set. */
export const getModelSettings = operation("getModelSettings", async ({ store, config }: ModelSettingsDeps) =>
  asSettings(config, await store.installation.findModelSettings()),
);

/**
 * Stores the server with language models for all projects; processes use it within two seconds. Throws invalid_request
 * while the environment sets the server.
 */
export const setModelSettings = operation(
  "setModelSettings",
  async ({ store, config }: ModelSettingsDeps, _principal, input) => {
    const settings = await readSettings(store, input);
    requireChangeable(config, settings);
    await store.installation.setModelSettings(settings);
    return asSettings(config, settings);
  },
  { audit: "models.set_settings", isGlobal: true },
);

/** Removes the stored server with language models: agents quote from then on. Throws like `setModelSettings`. */
export const removeModelSettings = operation(
  "removeModelSettings",
  async ({ store, config }: ModelSettingsDeps) => {
    requireChangeable(config, null);
    await store.installation.setModelSettings(null);
    return asSettings(config, null);
  },
  { audit: "models.remove_settings", isGlobal: true },
);

/** Lists the models of the server in the input, and sends the given one a minimal question. Stores nothing. */
export const testModelSettings = operation(
  "testModelSettings",
  async ({ store, log, config }: ModelSettingsDeps, _principal, input) => {
    const { baseUrl, api, apiKey: sealed, model } = await readSettings(store, input);
    const apiKey = sealed === null ? undefined : (store.sealer.open(sealed) ?? undefined);
    const tested = {
      providers: [modelProviderOf({ baseUrl, api, apiKey })],
      defaultModel: model,
      ...config.modelCalls,
    };
    const { models: found, unreachable } = await openModelCatalogue(tested).list();
    const models = found.filter(({ installed }) => installed).map(({ name }) => name);
    const [missing] = unreachable;
    // Some servers list no models and have one all the same.
    if (model === null) return { models, problem: missing?.detail ?? "No model is chosen: choose one.", ms: 0 };
    const opened = openLanguageModels(tested, { log, store });
    const began = performance.now();
    const signal = AbortSignal.timeout(TEST_MS);
    try {
      const problem = (await opened.findProblem(signal))?.message ?? null;
      return { models, problem, ms: Math.round(performance.now() - began) };
    } catch (error) {
      if (!signal.aborted) throw error;
      return { models, problem: `The model did not respond within ${TEST_MS / 1_000} s.`, ms: TEST_MS };
    } finally {
      await opened.close();
    }
  },
);

/** Looks for Ollama servers at their default addresses. */
export const findModelServers = operation("findModelServers", async ({ config }: ModelSettingsDeps) => {
  const found = await Promise.all(
    USUAL_SERVERS.map(async (baseUrl) => {
      const tested = { providers: [modelProviderOf({ baseUrl })], defaultModel: null, ...config.modelCalls };
      const { models, unreachable } = await openModelCatalogue(tested, { answerMs: FIND_MS }).list();
      return unreachable.length > 0
        ? []
        : [{ baseUrl, models: models.filter(({ installed }) => installed).map(({ name }) => name) }];
    }),
  );
  return found.flat();
});
