import type { modelEndpoints } from "@svc/contracts";
import { cancelPull, listModels } from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";
import { asModelPull } from "./as-model-pull.ts";
import { answerPull } from "./answer-pull.ts";

/** The catalogue of language models, and pulling them. */
export const modelHandlers: AdminHandlers<typeof modelEndpoints> = {
  async listModels(context, { principal, listQuery }) {
    return { json: { ok: true, ...(await listModels(context, principal, listQuery())) } };
  },
  followPull: answerPull,
  pullModel: answerPull,
  cancelPull: async (context, { principal, param }) => ({
    json: asModelPull(await cancelPull(context, principal, param("catalogId"))),
  }),
};
