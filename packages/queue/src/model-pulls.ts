import type { ModelPullJob } from "@svc/contracts";
import type { Queues } from "./open-queues.ts";

/** A model to be pulled that is to be announced: which pull of it that is, and how often it has been tried. */
export interface ModelPullAnnouncement extends ModelPullJob {
  pullId: string;
  attempts: number;
}

/** Announces models that wait to be pulled. The same try announced twice while its job waits is one job. */
export async function publishModelPulls(queues: Queues, pulls: readonly ModelPullAnnouncement[]): Promise<void> {
  if (pulls.length === 0) return;
  await queues.publish(
    "model-pulls",
    pulls.map(({ catalogId, pullId, attempts }) => ({ id: `${pullId}-${attempts}`, data: { catalogId } })),
  );
}
