import { modelProviderOf, openLanguageModels, openModelCatalogue } from "@svc/agents";
import type { LanguageModels, ModelCatalogue, ModelsConfig } from "@svc/agents";
import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import {
  MASKED_SECRET,
  ServiceError,
  checkInput,
  encodeModelCursor,
  invalidInput,
  maskOf,
  modelListInputSchema,
  modelSettingsInputSchema,
  rankOfModel,
} from "@svc/contracts";
import type {
  Model,
  ModelPull,
  ModelPullProgress,
  ModelSettings,
  ModelSettingsInput,
  UnreachableProvider,
} from "@svc/contracts";
import type { Log } from "@svc/log";
import { announceWork } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { ModelPullRecord, Store, StoredModelSettings } from "@svc/store";
import { audited } from "./audited.ts";
import { leaveToSweeper, operation, requireScopeOf } from "./operation.ts";

/** Dependencies of operations on models. */
export interface ModelDeps {
  store: Store;
  queues: Queues;
  log: Log;
  catalogue: ModelCatalogue;
}

/** A requested model: installed, or being pulled. */
type RequestedModel =
  | { isInstalled: true; pull: ModelPull }
  | { isInstalled: false; isNew: boolean; record: ModelPullRecord };

const progressOf = ({ status, completedBytes, totalBytes }: ModelPullProgress): ModelPullProgress => ({
  status,
  completedBytes,
  totalBytes,
});

/** Returns the public state of a pull. */
export function asModelPull({ catalogId, status, completedBytes, totalBytes }: ModelPullRecord): ModelPull {
  return { ok: true, catalogId, status, completedBytes, totalBytes };
}

/** Returns the model of a pull for the audit log. */
const asObject = ({ catalogId }: { catalogId: string }) => `model:${catalogId}`;

/** Returns a model that is being pulled and is not in the catalogue. */
function asUnlisted(record: ModelPullRecord): Model {
  const at = record.catalogId.indexOf(":");
  return {
    catalogId: record.catalogId,
    name: record.catalogId.slice(at + 1),
    provider: record.catalogId.slice(0, at),
    local: true,
    sizeBytes: record.totalBytes,
    installed: false,
    contextWindow: null,
    pull: progressOf(record),
  };
}

/**
 * Returns a page of the available models, installed ones first, with the progress of pulls; `q` searches their ids.
 * They are the same for every project.
 */
export const listModels = operation(
  "listModels",
  async (
    { store, catalogue }: Pick<ModelDeps, "store" | "catalogue">,
    _principal,
    input,
  ): Promise<{ items: Model[]; nextCursor: string | null; unreachable: UnreachableProvider[] }> => {
    const { limit, after, q } = checkInput(modelListInputSchema, input, "The query");
    const [{ models, unreachable }, running] = await Promise.all([catalogue.list(), store.modelPulls.listRunning()]);
    const pulls = new Map(running.map((record) => [record.catalogId, record]));
    const listed = new Set(models.map(({ catalogId }) => catalogId));
    const all: Model[] = [
      ...models.map((model) => {
        const record = pulls.get(model.catalogId);
        return { ...model, pull: record === undefined ? null : progressOf(record) };
      }),
      ...running.filter(({ catalogId }) => !listed.has(catalogId)).map(asUnlisted),
    ];
    const wanted = q?.toLowerCase() ?? "";
    const found = all
      .map((model) => ({ model, place: rankOfModel(model) }))
      .filter(({ model }) => model.catalogId.toLowerCase().includes(wanted))
      .toSorted((one, other) => (one.place < other.place ? -1 : 1))
      .filter(({ place: position }) => after === undefined || position > after);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return {
      items: page.map(({ model }) => model),
      nextCursor: found.length > page.length && last !== undefined ? encodeModelCursor(last.place) : null,
      unreachable,
    };
  },
);

/**
 * Starts pulling a model to Ollama, or joins the running pull; an installed one is not pulled again. The pull continues
 * without listeners. Scope models:write. Throws like `ModelCatalogue.findPullable`.
 */
export const pullModel = audited(
  "models.pull",
  async (
    { store, queues, log, catalogue }: ModelDeps,
    principal: Principal,
    catalogId: string,
  ): Promise<RequestedModel> => {
    requireScopeOf(principal, "pullModel");
    const found = await catalogue.findPullable(catalogId);
    if (found.installedBytes !== null) {
      const sizes = { completedBytes: found.installedBytes, totalBytes: found.installedBytes };
      return { isInstalled: true, pull: { ok: true, catalogId: found.catalogId, status: "success", ...sizes } };
    }
    const { pull, isNew } = await store.modelPulls.begin(found.catalogId);
    if (isNew) {
      const announced = { catalogId: pull.catalogId, pullId: pull.id, attempts: 0 };
      await leaveToSweeper(log, { catalogId: pull.catalogId }, () => announceWork(queues, "model-pulls", [announced]));
    }
    return { isInstalled: false, isNew, record: pull };
  },
  {
    objectOf: (_args, asked) => (asked === null || asked.isInstalled ? null : asObject(asked.record)),
    isGlobal: true,
    // A caller that joins a pull changes nothing.
    countOf: (_args, asked) => (!asked.isInstalled && asked.isNew ? 1 : 0),
  },
);

/**
 * Cancels the pull of a model, for all its followers; the next pull reuses what was downloaded. Throws not_found if it
 * is not being pulled.
 */
export const cancelPull = operation(
  "cancelPull",
  async ({ store, catalogue }: Pick<ModelDeps, "store" | "catalogue" | "log">, _principal, catalogId) => {
    for (const id of catalogue.idsOf(catalogId)) {
      const cancelled = await store.modelPulls.cancel(id);
      if (cancelled !== null) return asModelPull(cancelled);
    }
    throw new ServiceError(
      "not_found",
      "This model is not being pulled. List active pulls with GET /api/v1/admin/models.",
    );
  },
  {
    audit: "models.cancel_pull",
    objectOf: (_args, cancelled) => (cancelled === null ? null : asObject(cancelled)),
    isGlobal: true,
  },
);

/**
 * Returns the current state of a model's pull with this id, also if it has ended; null if a newer one has replaced it.
 * Starts nothing. Scope models:write.
 */
export async function findPull(
  { store, catalogue }: Pick<ModelDeps, "store" | "catalogue">,
  principal: Principal,
  catalogId: string,
  pullId: string,
): Promise<ModelPullRecord | null> {
  requireScope(principal, "models:write");
  for (const id of catalogue.idsOf(catalogId)) {
    const record = await store.modelPulls.find(id);
    if (record?.id === pullId) return record;
  }
  return null;
}

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
