import type { Principal } from "@svc/auth";
import {
  CHANNEL_LIMITS,
  ServiceError,
  WEBHOOK_LIMITS,
  checkInput,
  grantsScope,
  invalidInput,
  webhookChangeSchema,
  webhookInputSchema,
  webhookRotateSchema,
} from "@svc/contracts";
import type { WebhookItem } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { AddressGuard } from "@svc/outbound";
import { isUuid } from "@svc/primitives";
import { announceWork } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { Store, Webhook } from "@svc/store";
import { maskUrl } from "./deliveries.ts";
import { leaveToSweeper, operation, readPage, staleVersion, objectReader, notInProject } from "./operation.ts";
import { generateWebhookSecret } from "./webhook-secret.ts";

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
