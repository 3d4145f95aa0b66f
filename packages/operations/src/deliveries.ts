import type { Principal } from "@svc/auth";
import { ServiceError, deliveryStateSchema, grantsScope } from "@svc/contracts";
import type { DeliveryItem } from "@svc/contracts";
import type { Log } from "@svc/log";
import { isUuid } from "@svc/primitives";
import { announceWork } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { ProjectId, Store } from "@svc/store";
import { leaveToSweeper, readPage, searchErrors, operation } from "./operation.ts";

/** Placeholder of a hidden value. */
const MASK = "***";

/**
 * Masks possible secrets in a URL: user name, password, and values of the query and of the fragment. Scheme, host, path
 * and names of the query are kept.
 */
export function maskUrl(text: string): string {
  const url = new URL(text);
  if (url.username !== "") url.username = MASK;
  if (url.password !== "") url.password = MASK;
  for (const name of new Set(url.searchParams.keys())) url.searchParams.set(name, MASK);
  if (url.hash !== "") url.hash = MASK;
  return url.href;
}

/** Returns a delivery as shown to a principal: values in its URL are only shown to one who can replay it. */
const shownTo = (principal: Principal, item: DeliveryItem): DeliveryItem =>
  grantsScope(principal.scopes, "webhooks:write") ? item : { ...item, url: maskUrl(item.url) };

/**
 * Returns a page of the callbacks and events of the principal's project, newest first, each with the results of its
 * attempts. Scope webhooks:read; without webhooks:write values in URLs are masked.
 */
export const listDeliveries = operation("listDeliveries", async ({ store }, principal, input) => {
  const { state, webhookId, q, ...page } = input;
  const known = deliveryStateSchema.optional().safeParse(state);
  const detail = `must be one of ${deliveryStateSchema.options.join(", ")}`;
  return readPage("deliveries", page, {
    read: ({ limit, before }) =>
      store.deliveries.listPage(principal.project, { limit, before, state: known.data, webhookId }),
    asItem: (item) => shownTo(principal, item),
    found: [
      ...(known.success ? [] : [{ pointer: "/state", code: "invalid_value", detail }]),
      ...(webhookId === undefined || isUuid(webhookId)
        ? []
        : [{ pointer: "/webhookId", code: "invalid_value", detail: "must be the ID of a webhook" }]),
      ...searchErrors(q),
    ],
  });
});

/** Returns the callback or event with this id in the principal's project. */
export const getDelivery = operation("getDelivery", async ({ store }, principal, id) => {
  const item = isUuid(id) ? await store.deliveries.find(principal.project, id) : null;
  if (item === null) {
    throw new ServiceError(
      "not_found",
      "No delivery with this ID exists in this project. The final delivery of a message is created when its answer is ready.",
    );
  }
  return shownTo(principal, item);
});

/** Throws if nothing can sign a delivered callback any more, because its replay would then fail. */
async function requireSecret(store: Store, project: ProjectId, id: string): Promise<void> {
  const item = await store.deliveries.find(project, id);
  if (item?.state !== "delivered" || item.messageId === null) return;
  const secrets = await store.projects.findWebhookSecrets(project);
  if (secrets?.webhookSecret != null || (await store.callbacks.hasSecret(project, item.messageId))) return;
  throw new ServiceError(
    "invalid_request",
    "The API key that signed this callback is no longer stored, because the message is answered. Set a webhook secret for the project (svc webhook secret --project NAME --generate), which also signs replays.",
  );
}

/**
 * Sends a dead or delivered callback again, with the same id and new attempts; one that waits for a retry is sent now.
 * Uncollected replies of a dead one leave the drain until it is dead again. Throws not_found, also for a delivery of
 * another project, and invalid_request for a delivered one that nothing can sign any more.
 */
export const replayDelivery = operation(
  "replayDelivery",
  async ({ store, queues, log }: { store: Store; queues: Queues; log: Log }, principal, id) => {
    const { project } = principal;
    if (isUuid(id)) await requireSecret(store, project, id);
    const due = isUuid(id) ? await store.deliveries.replay(project, id) : null;
    const item = due === null ? null : await store.deliveries.find(project, id);
    if (due === null || item === null)
      throw new ServiceError("not_found", "No delivery with this ID exists in this project.");
    await leaveToSweeper(log, { deliveryId: id }, () => announceWork(queues, "webhook-deliveries", [due]));
    return item;
  },
  { audit: "deliveries.replay" },
);
