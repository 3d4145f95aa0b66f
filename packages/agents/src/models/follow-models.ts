import { openModelCatalogue } from "../catalogue/open-model-catalogue.ts";
import type { ModelCatalogue } from "../catalogue/open-model-catalogue.ts";
import type { LanguageModels, ModelsConfig, OpenedModels } from "./language-model.ts";
import { openLanguageModels, trackModelCalls } from "./open-language-models.ts";
import type { LanguageModelsDeps } from "./open-language-models.ts";

/**
 * Returns the current configuration of language models; null if there is none. Called for every use, so it should
 * cache.
 */
export type FindModelsConfig = () => Promise<ModelsConfig | null>;

interface Current {
  key: string;
  config: ModelsConfig | null;
  models: OpenedModels | null;
  catalogue: ModelCatalogue;
}

/**
 * Opens the language models and their catalogue for a configuration that may change while the process runs: each use
 * has the current one. Calls in progress keep their configuration. If `find` fails, the last configuration stays in use
 * and a warning is logged.
 */
export function followModels(
  find: FindModelsConfig,
  deps: LanguageModelsDeps,
): { models: LanguageModels; catalogue: ModelCatalogue } {
  const calls = trackModelCalls();
  let current: Current = { key: "null", config: null, models: null, catalogue: openModelCatalogue(undefined) };

  function open(key: string, config: ModelsConfig | null): Current {
    const models = config === null ? null : openLanguageModels(config, deps, calls);
    return { key, config, models, catalogue: openModelCatalogue(config ?? undefined) };
  }

  async function now(): Promise<Current> {
    let config: ModelsConfig | null;
    try {
      config = await find();
    } catch (error) {
      deps.log.warn({ error }, "failed to read the model settings; the last known ones are used");
      return current;
    }
    const key = JSON.stringify(config);
    // Compared after the last `await`, so that concurrent callers do not both open a new configuration.
    if (key !== current.key) current = open(key, config);
    return current;
  }

  return {
    models: {
      forAgent: async (agent) => (await now()).models?.forAgent(agent) ?? null,
      config: async () => (await now()).config,
      health: () => current.models?.health() ?? [],
      findProblem: async (signal) => (await (await now()).models?.findProblem(signal)) ?? null,
      close: () => calls.close(),
    },
    catalogue: {
      list: async () => (await now()).catalogue.list(),
      findPullable: async (catalogId) => (await now()).catalogue.findPullable(catalogId),
      idsOf: (catalogId) => current.catalogue.idsOf(catalogId),
      pull: async (catalogId, options) => (await now()).catalogue.pull(catalogId, options),
    },
  };
}
