import type { DeliveryJob } from "@svc/contracts";
import type { Queues } from "./open-queues.ts";

/** A callback to announce, with how often it has been tried. */
export interface DeliveryAnnouncement extends DeliveryJob {
  deliveryId: string;
  tries: number;
}

/** Announces callbacks that are due. The same try announced twice while its job waits is one job. */
export async function publishDeliveries(queues: Queues, deliveries: DeliveryAnnouncement[]): Promise<void> {
  if (deliveries.length === 0) return;
  await queues.publish(
    "webhook-deliveries",
    deliveries.map(({ project, ticketId, deliveryId, tries }) => ({
      id: `${deliveryId}-${tries}`,
      data: { project, ticketId },
    })),
  );
}
