import type { LanguageModels } from "@svc/agents";
import type { ApiState } from "../api-client.ts";
import type { Check } from "./check.ts";

const NAME = "Models";

/** A server that has to load its model takes a while; one that is in order answers within this time. */
const DEADLINE_MS = 30_000;

const ADVICE =
  "Agents quote their knowledge bases until it responds. Correct SVC_LLM_BASE_URL, SVC_LLM_MODEL or SVC_LLM_API_KEY (SVC_ANTHROPIC_API_KEY for Anthropic models), or start the server.";

/** Why the model of the configuration gives no answer to a tiny question; null when it gives one. */
async function findFault(models: LanguageModels): Promise<string | null> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  try {
    return (await models.findFault(deadline))?.message ?? null;
  } catch (error) {
    if (deadline.aborted) return `it did not respond within ${DEADLINE_MS} ms`;
    throw error;
  }
}

const NONE_HERE = "none configured in this environment (SVC_LLM_BASE_URL)";

/** What the running service says of its models, where this environment has none: agents that quote are in order. */
function checkService(state: ApiState): Check {
  const models = state.kind === "ours" ? state.models : "unknown";
  if (models === "unknown") {
    return { name: NAME, status: "ok", detail: `${NONE_HERE}; a service with other settings may have one` };
  }
  if (models === null)
    return { name: NAME, status: "ok", detail: "none configured: agents quote their knowledge bases" };
  const detail = `${NONE_HERE}; the running service: ${models.detail}`;
  if (models.status === "pass") return { name: NAME, status: "ok", detail };
  return { name: NAME, status: "warn", detail, advice: ADVICE };
}

/**
 * Asks the model of the configuration one tiny question. Where none is configured here, `probe` tells how those of the
 * running service are.
 */
export async function checkModels(models: LanguageModels | null, probe: () => Promise<ApiState>): Promise<Check[]> {
  if (models === null) return [checkService(await probe())];
  const model = models.forAgent({ model: null });
  if (model === null) {
    const detail = "SVC_LLM_MODEL is not set, so only agents with their own model use one";
    return [{ name: NAME, status: "ok", detail }];
  }
  const fault = await findFault(models);
  if (fault === null) return [{ name: NAME, status: "ok", detail: `${model.id} responds` }];
  return [{ name: NAME, status: "warn", detail: `${model.id} is not usable: ${fault}`, advice: ADVICE }];
}
