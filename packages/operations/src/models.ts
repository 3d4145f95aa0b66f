import type { ModelCatalogue } from "@svc/agents";
import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { ServiceError, checkInput, encodeModelCursor, modelListInputSchema, rankOfModel } from "@svc/contracts";
import type { Model, ModelPull, ModelPullProgress, UnreachableProvider } from "@svc/contracts";
import type { Log } from "@svc/log";
import { announceWork } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { ModelPullRecord, Store } from "@svc/store";
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
export type RequestedModel =
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
