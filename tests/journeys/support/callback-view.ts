import type { DeliveryItem, DeliveryState } from "@svc/contracts";
import type { ProjectId } from "@svc/store";
import { waitFor } from "@svc/testing";
import { queryDatabase } from "./query-database.ts";
import type { Product } from "./start-product.ts";

/** The callbacks of one project, as its operators see them, and a way past the hours between their tries. */
export interface CallbackView {
  /** Waits until a callback is in a state, and answers it. */
  untilIn(deliveryId: string, state: DeliveryState, options?: { timeoutMs?: number }): Promise<DeliveryItem>;
  /** Waits until so many tries of a pending callback have come to an end. */
  untilTried(deliveryId: string, tries: number, options?: { timeoutMs?: number }): Promise<DeliveryItem>;
  /** All callbacks of a chat in the order of their making. */
  listIn(ticketId: string): Promise<DeliveryItem[]>;
  /** Lets the time pass that a callback has to wait for its next try. */
  hurry(deliveryId: string): Promise<void>;
  /** Lets the time pass for which a process that has died may still be trying a callback. */
  endLease(deliveryId: string): Promise<void>;
}

/** Looks at the callbacks of a project. */
export function callbackView({ store, databaseUrl }: Product, project: ProjectId): CallbackView {
  async function until(
    deliveryId: string,
    isReached: (item: DeliveryItem) => boolean,
    what: string,
    timeoutMs = 30_000,
  ): Promise<DeliveryItem> {
    let seen: DeliveryItem | null = null;
    const check = async () => {
      seen = await store.deliveries.find(project, deliveryId);
      return seen !== null && isReached(seen) ? seen : null;
    };
    return waitFor(check, {
      what: () => `callback ${deliveryId} to ${what}; it is ${JSON.stringify(seen)}`,
      timeoutMs,
    });
  }

  return {
    untilIn: (deliveryId, state, { timeoutMs } = {}) =>
      until(deliveryId, (item) => item.state === state, `be ${state}`, timeoutMs),

    untilTried: (deliveryId, tries, { timeoutMs } = {}) =>
      until(
        deliveryId,
        ({ attempts }) => attempts.filter(({ error }) => error !== null).length >= tries,
        `have failed ${tries} times`,
        timeoutMs,
      ),

    async listIn(ticketId) {
      const rows = await queryDatabase<{ id: string }>(
        databaseUrl,
        "SELECT id FROM deliveries WHERE ticket_id = $1 ORDER BY place",
        [ticketId],
      );
      const items = await Promise.all(rows.map(({ id }) => store.deliveries.find(project, id)));
      return items.filter((item) => item !== null);
    },

    async endLease(deliveryId) {
      await queryDatabase(
        databaseUrl,
        "UPDATE deliveries SET lease_until = now(), due_at = now() WHERE id = $1 AND lease_id IS NOT NULL",
        [deliveryId],
      );
    },

    async hurry(deliveryId) {
      await queryDatabase(databaseUrl, "UPDATE deliveries SET next_at = now(), due_at = now() WHERE id = $1", [
        deliveryId,
      ]);
    },
  };
}
