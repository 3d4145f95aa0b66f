import type { DeliveryItem, DeliveryState } from "@svc/contracts";
import type { ProjectId } from "@svc/store";
import { waitFor, queryDatabase } from "@svc/testing";
import type { Product } from "./start-product.ts";

/** The callbacks of one project, as its operators see them, with means to skip the delays between attempts. */
export interface CallbackView {
  /** Waits until a callback is in a state, and returns it. */
  untilIn(deliveryId: string, state: DeliveryState, options?: { timeoutMs?: number }): Promise<DeliveryItem>;
  /** Waits until this many attempts of a pending callback have ended. */
  untilTried(deliveryId: string, tries: number, options?: { timeoutMs?: number }): Promise<DeliveryItem>;
  /** Returns all callbacks of a chat in the order of creation. */
  listIn(ticketId: string): Promise<DeliveryItem[]>;
  /** Skips the delay before the next attempt of a callback. */
  hurry(deliveryId: string): Promise<void>;
  /** Makes the lease of a callback expire, which a crashed process may still hold. */
  endLease(deliveryId: string): Promise<void>;
}

/** Returns a view of the callbacks of a project. */
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
