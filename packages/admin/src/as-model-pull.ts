import type { ModelPull } from "@svc/contracts";
import type { ModelPullRecord } from "@svc/store";

/** How far a pull is, as a call is answered. */
export function asModelPull({ catalogId, status, completedBytes, totalBytes }: ModelPullRecord): ModelPull {
  return { ok: true, catalogId, status, completedBytes, totalBytes };
}
