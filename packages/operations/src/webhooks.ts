import type { Principal } from "@svc/auth";
import {
  CHANNEL_LIMITS,
  ServiceError,
  WEBHOOK_LIMITS,
  checkInput,
  deliveryStateSchema,
  grantsScope,
  invalidInput,
  webhookChangeSchema,
  webhookInputSchema,
  webhookRotateSchema,
} from "@svc/contracts";
import type { DeliveryItem, WebhookItem } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { AddressGuard } from "@svc/outbound";
import { isUuid } from "@svc/primitives";
import { announceWork } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { ProjectId, Store, Webhook } from "@svc/store";
import {
  leaveToSweeper,
  notInProject,
  objectReader,
  operation,
  readPage,
  searchErrors,
  staleVersion,
} from "./operation.ts";
import { generateWebhookSecret } from "./webhook-events.ts";

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

/** Dependencies of checking a webhook's URL. */
interface UrlDeps {
  store: Store;
  guard: Pick<AddressGuard, "checkUrl">;
}

/** Returns a webhook as shown to a principal: values in its URL are only shown to one who can change it. */
function asItem(webhook: Webhook, { scopes }: Principal): WebhookItem {
  const { id, description, url, events, channels, agentIds, priorities, createdBy, version } = webhook;
  const until = webhook.previousSecret?.until ?? null;
  return {
    id,
    description,
    url: grantsScope(scopes, "webhooks:write") ? url : maskUrl(url),
    events,
    channels,
    agentIds,
    priorities,
    isActive: webhook.activeSince !== null,
    previousSecretUntil: until === null || until.getTime() <= Date.now() ? null : until.toISOString(),
    createdAt: webhook.createdAt.toISOString(),
    createdBy,
    updatedAt: webhook.updatedAt.toISOString(),
    version,
  };
}

const readWebhook = objectReader("webhook", ({ webhooks }) => webhooks.find);

/** Throws invalid_request for agents that are not in the project. */
async function requireAgents(store: Store, { project }: Principal, agentIds: readonly string[] = []): Promise<void> {
  if (agentIds.length === 0) return;
  const known = new Set((await store.agents.list(project)).map(({ id }) => id));
  const detail = "is not an agent of this project";
  const errors = agentIds.flatMap((id, index) =>
    known.has(id.toLowerCase()) ? [] : [{ pointer: `/agentIds/${index}`, code: "unknown_agent", detail }],
  );
  if (errors.length > 0) throw invalidInput(errors, "The webhook");
}

/** Returns a URL in normalized form. Throws invalid_request for one whose address is not allowed. */
function requireUrl(guard: UrlDeps["guard"], text: string): string {
  const check = guard.checkUrl(text);
  if (check.ok) return new URL(text).href;
  const detail = `is not allowed. ${check.reason.replace(/\.$/, "")}`;
  throw invalidInput([{ pointer: "/url", code: "forbidden_address", detail }], "The webhook");
}

/**
 * Returns a page of the webhooks of the principal's project, newest first; `q` searches the description and the URL.
 * Scope webhooks:read; without webhooks:write values in URLs are masked, and URLs are not searched.
 */
export const listWebhooks = operation("listWebhooks", async ({ store }, principal, input) => {
  // A search would reveal masked values.
  const searchesUrl = grantsScope(principal.scopes, "webhooks:write");
  return readPage("webhooks", input, {
    read: (query) => store.webhooks.listPage(principal.project, { ...query, searchesUrl }),
    asItem: (webhook) => asItem(webhook, principal),
  });
});

/** Returns the webhook with this id in the principal's project. */
export const getWebhook = operation("getWebhook", async ({ store }, principal, id) => {
  return asItem(await readWebhook(store, principal, id), principal);
});

/**
 * Creates a webhook in the principal's project, with a secret that is only returned here. Scopes webhooks:write and
 * tickets:read. Throws invalid_request for an address that is not allowed, and if the project has
 * `WEBHOOK_LIMITS.maxCount` webhooks.
 */
export const createWebhook = operation(
  "createWebhook",
  async ({ store, guard }: UrlDeps, principal, input) => {
    const given = checkInput(webhookInputSchema, input, "The webhook");
    await requireAgents(store, principal, given.agentIds);
    const secret = generateWebhookSecret();
    const webhook = await store.webhooks.insert(principal.project, {
      description: given.description ?? "",
      url: requireUrl(guard, given.url),
      secret: store.sealer.seal(secret),
      events: given.events,
      channels: given.channels ?? [],
      agentIds: given.agentIds ?? [],
      priorities: given.priorities ?? [],
      isActive: given.isActive ?? true,
      createdBy: principal.actor,
    });
    if (webhook === null) {
      const detail = `A project can have at most ${WEBHOOK_LIMITS.maxCount} webhooks. Delete one that is not needed.`;
      throw new ServiceError("invalid_request", detail);
    }
    return { ...asItem(webhook, principal), secret };
  },
  { audit: "webhooks.create" },
);

/**
 * Changes the given fields if the webhook has one of the expected versions. Pending deliveries go to the new URL.
 * Scopes webhooks:write and tickets:read. Throws invalid_request like `createWebhook`.
 */
export const updateWebhook = operation(
  "updateWebhook",
  async ({ store, guard }: UrlDeps, principal, { id, versions = null }, input) => {
    const change = checkInput(webhookChangeSchema, input, "The webhook");
    await requireAgents(store, principal, change.agentIds);
    await readWebhook(store, principal, id);
    const patch = { ...change, ...(change.url !== undefined && { url: requireUrl(guard, change.url) }) };
    const { result, webhook } = await store.webhooks.update(principal.project, { id, versions }, patch);
    if (webhook === null) throw notInProject("webhook");
    if (result !== "changed") throw staleVersion("The webhook", webhook.version);
    return asItem(webhook, principal);
  },
  { audit: "webhooks.update" },
);

/** Deletes a webhook with its deliveries, if it has one of the expected versions. */
export const deleteWebhook = operation(
  "deleteWebhook",
  async ({ store }, principal, { id, versions = null }) => {
    const webhook = await readWebhook(store, principal, id);
    if (!(await store.webhooks.remove(principal.project, { id, versions }))) {
      throw staleVersion("The webhook", (await readWebhook(store, principal, id)).version);
    }
    return asItem(webhook, principal);
  },
  { audit: "webhooks.delete" },
);

/**
 * Sets a new secret of a webhook, which is only returned here; the previous one also signs during the overlap. Scopes
 * webhooks:write and tickets:read.
 */
export const rotateWebhookSecret = operation(
  "rotateWebhookSecret",
  async ({ store }, principal, id, input) => {
    const { overlapSeconds = CHANNEL_LIMITS.overlapDefaultSeconds } = checkInput(
      webhookRotateSchema,
      input,
      "The rotation",
    );
    const secret = generateWebhookSecret();
    const sealed = store.sealer.seal(secret);
    const webhook = isUuid(id)
      ? await store.webhooks.rotate(principal.project, id, { secret: sealed, overlapSeconds })
      : null;
    if (webhook === null) throw notInProject("webhook");
    return { ...asItem(webhook, principal), secret };
  },
  { audit: "webhooks.rotate" },
);

/** Sends a test event to a webhook, also an inactive one, and returns its pending delivery. */
export const testWebhook = operation(
  "testWebhook",
  async ({ store, queues, log }: { store: Store; queues: Queues; log: Log }, principal, id) => {
    const webhook = await readWebhook(store, principal, id);
    const due = await store.webhooks.insertTest(principal.project, webhook);
    const [first] = due;
    const item = first === undefined ? null : await store.deliveries.find(principal.project, first.deliveryId);
    // It was deleted meanwhile.
    if (item === null) throw notInProject("webhook");
    await leaveToSweeper(log, { deliveryId: item.id }, () => announceWork(queues, "webhook-deliveries", due));
    return item;
  },
  { audit: "webhooks.test" },
);
