import type { IngestJob } from "@svc/contracts";
import type { Queues } from "./open-queues.ts";

/** Something to read into a knowledge base that is to be announced, with how often it has been tried. */
export interface IngestAnnouncement extends IngestJob {
  attempts: number;
}

/** Announces what waits to be read. The same try announced twice while its job waits is one job. */
export async function publishIngests(queues: Queues, ingests: IngestAnnouncement[]): Promise<void> {
  if (ingests.length === 0) return;
  await queues.publish(
    "ingest-documents",
    ingests.map(({ project, ingestId, attempts }) => ({
      id: `${ingestId}-${attempts}`,
      data: { project, ingestId },
    })),
  );
}
