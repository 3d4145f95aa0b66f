import { randomBytes } from "node:crypto";
import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import {
  HOOK_HEADERS,
  HOOK_LIMITS,
  HOOK_PRESETS,
  ServiceError,
  hookChangeSchema,
  hookInputSchema,
  hookRotateSchema,
  hookTestSchema,
  mappedHookSchema,
} from "@svc/contracts";
import type {
  FieldFault,
  HookAuth,
  HookBodyItem,
  HookChange,
  HookCondition,
  HookInput,
  HookItem,
  HookMapping,
  HookRotateInput,
  HookSecretItem,
  HookTestInput,
  HookTestResult,
  ListInput,
  ListPage,
} from "@svc/contracts";
import { isWebhookSecret } from "@svc/outbound";
import type { AddressGuard } from "@svc/outbound";
import type { Hook, HookBody, HookBodyResult, NewHookBody, ProjectId, Store } from "@svc/store";
import { audited } from "./audited.ts";
import { checkInput, invalidInput } from "./check-input.ts";
import { isDeeperThan } from "./hook-mapping/is-deeper-than.ts";
import { WEBHOOK_SECRET_FAULT, findMappingFaults, mapBody } from "./hook-mapping/map-body.ts";
import { isUuid } from "./is-uuid.ts";
import type { ExpectedVersions } from "./kbs.ts";
import { readPage } from "./list-page.ts";
import { staleVersion } from "./stale-version.ts";
import { generateWebhookSecret } from "./webhook-secret.ts";

/**
 * Makes a message of a body of a hook, with the body's id as its own, or says why it becomes none. Safe to repeat.
 * Rejects with channel_disabled and unavailable.
 */
export type TakeHookBody = (hook: Hook, body: NewHookBody) => Promise<HookBodyResult>;

const SECRET_BYTES = 32;
const UTF8 = new TextDecoder("utf-8", { fatal: false });

const notFound = () => new ServiceError("not_found", "There is no such hook in this project.");

const nameTaken = (name: string) =>
  invalidInput([{ pointer: "/name", code: "taken", detail: `there is a hook of this name: ${name}` }], "The hook");

/** Where a platform posts to, without a secret. */
const urlOf = (id: string) => `/api/v1/hooks/${id}`;

function asItem(hook: Hook): HookItem {
  const until = hook.previousSecret?.until ?? null;
  return {
    id: hook.id,
    name: hook.name,
    project: hook.projectName,
    url: urlOf(hook.id),
    preset: hook.preset,
    auth: hook.auth,
    mapping: hook.mapping,
    filter: hook.filter,
    previousSecretUntil: until === null || until.getTime() <= Date.now() ? null : until.toISOString(),
    createdAt: hook.createdAt.toISOString(),
    createdBy: hook.createdBy,
    updatedAt: hook.updatedAt.toISOString(),
    version: hook.version,
  };
}

/** A hook with the secret that the service has made for it; a secret in the path completes its address. */
function withSecret(hook: Hook, secret: string, isGiven: boolean): HookSecretItem {
  const item = asItem(hook);
  if (isGiven) return item;
  const url = hook.auth.type === "path" ? `${item.url}/${secret}` : item.url;
  return { ...item, url, secret };
}

function asBodyItem(body: HookBody): HookBodyItem {
  const text = UTF8.decode(body.content);
  return {
    id: body.id,
    receivedAt: body.receivedAt.toISOString(),
    contentType: body.contentType,
    headers: body.headers,
    sizeBytes: body.sizeBytes,
    body: text.slice(0, HOOK_LIMITS.shownBodyMaxChars).toWellFormed(),
    isCut: text.length > HOOK_LIMITS.shownBodyMaxChars,
    outcome: body.outcome,
    errors: [...body.faults],
    eventId: body.eventId,
    messageId: body.messageId,
    ticketId: body.ticketId,
    chatId: body.chatId,
    tries: body.tries,
    triedAt: body.triedAt.toISOString(),
  };
}

async function readHook(store: Store, { project }: Principal, id: string): Promise<Hook> {
  const hook = isUuid(id) ? await store.hooks.find(project, id) : null;
  if (hook === null) throw notFound();
  return hook;
}

/** What is wrong with a secret that somebody brings. */
function secretFaults(auth: HookAuth, secret: string | undefined): FieldFault[] {
  if (secret === undefined) return [];
  if (auth.type === "path") {
    const detail = "is made by the service where it stands in the path; leave it out";
    return [{ pointer: "/secret", code: "not_allowed", detail }];
  }
  if (auth.type === "standard-webhooks" && !(secret.startsWith("whsec_") && isWebhookSecret(secret))) {
    return [{ pointer: "/secret", code: "invalid", detail: "must be whsec_ and base64, as Standard Webhooks has it" }];
  }
  return [];
}

/** A secret as the platforms take it: letters, digits, `-` and `_`. */
function generateSecret({ type }: HookAuth): string {
  return type === "standard-webhooks" ? generateWebhookSecret() : randomBytes(SECRET_BYTES).toString("base64url");
}

/** A mapping with fields laid over it; what is null is taken away. */
function overlay(mapping: Partial<HookMapping>, change: object): object {
  const fields = Object.entries({ ...mapping, ...change });
  return Object.fromEntries(fields.filter(([, value]) => value !== null && value !== undefined));
}

/** What is wrong with a mapping and a filter besides their shape. */
async function mappingFaults(
  store: Store,
  project: ProjectId,
  mapping: HookMapping,
  filter: readonly HookCondition[],
): Promise<FieldFault[]> {
  const faults = findMappingFaults(mapping, filter);
  if (mapping.webhookUrl == null) return faults;
  const secrets = await store.projects.findWebhookSecrets(project);
  return secrets?.webhookSecret == null ? [...faults, WEBHOOK_SECRET_FAULT] : faults;
}

/**
 * A page of the hooks of the principal's project, newest first. Scope messages:write. Throws invalid_request for a query
 * that is not valid.
 */
export async function listHooks(
  { store }: { store: Store },
  principal: Principal,
  input: ListInput,
): Promise<ListPage<HookItem>> {
  requireScope(principal, "messages:write");
  return readPage("hooks", input, (query) => store.hooks.listPage(principal.project, query), asItem);
}

/** The hook with this id, in the principal's project. Scope messages:write. Throws not_found. */
export async function getHook({ store }: { store: Store }, principal: Principal, id: string): Promise<HookItem> {
  requireScope(principal, "messages:write");
  return asItem(await readHook(store, principal, id));
}

/**
 * Makes a hook in the principal's project, of what the input says and, for the rest, of its preset. A secret that the
 * service makes is in the result and nowhere else. Scope messages:write. Throws invalid_request with every fault of the
 * input, paths that are no JSONPath among them, and when the project has a hook of this name.
 */
export const createHook = audited(
  "hooks.create",
  async function createHook(
    { store }: { store: Store },
    principal: Principal,
    input: HookInput,
  ): Promise<HookSecretItem> {
    requireScope(principal, "messages:write");
    const { name, preset, secret, ...given } = checkInput(hookInputSchema, input, "The hook");
    const defaults = preset === undefined ? undefined : HOOK_PRESETS[preset];
    const auth = given.auth ?? defaults?.auth ?? { type: "path" };
    const filter = given.filter ?? defaults?.filter ?? [];
    const wanted = overlay(defaults?.mapping ?? {}, given.mapping ?? {});
    const faults = secretFaults(auth, secret);
    const { mapping } = checkInput(mappedHookSchema, { mapping: wanted }, "The hook", faults);
    const further = await mappingFaults(store, principal.project, mapping, filter);
    if (further.length > 0) throw invalidInput(further, "The hook");
    const isGiven = secret !== undefined;
    const live = secret ?? generateSecret(auth);
    const hook = await store.hooks.insert(principal.project, {
      name,
      preset: preset ?? null,
      auth,
      secret: store.sealer.seal(live),
      mapping,
      filter,
      createdBy: principal.actor,
    });
    if (hook === null) throw nameTaken(name);
    return withSecret(hook, live, isGiven);
  },
);

/**
 * Changes what the input names, if the hook has one of the expected versions; calls find it changed at once. The scheme
 * of its proof stays, since its secret belongs to it. Scope messages:write. Throws not_found, version_conflict with the
 * present `ETag`, and invalid_request as `createHook` does.
 */
export const updateHook = audited(
  "hooks.update",
  async function updateHook(
    { store }: { store: Store },
    principal: Principal,
    id: string,
    input: HookChange,
    versions: ExpectedVersions = null,
  ): Promise<HookItem> {
    requireScope(principal, "messages:write");
    const change = checkInput(hookChangeSchema, input, "The hook");
    const before = await readHook(store, principal, id);
    const faults: FieldFault[] = [];
    if (change.auth !== undefined && change.auth.type !== before.auth.type) {
      const detail = `stays ${before.auth.type}, as the platform has the secret for it; make another hook`;
      faults.push({ pointer: "/auth/type", code: "fixed", detail });
    }
    const wanted = change.mapping === undefined ? before.mapping : overlay(before.mapping, change.mapping);
    const { mapping } = checkInput(mappedHookSchema, { mapping: wanted }, "The hook", faults);
    const touchesMapping = change.mapping !== undefined || change.filter !== undefined;
    const further = touchesMapping
      ? await mappingFaults(store, principal.project, mapping, change.filter ?? before.filter)
      : [];
    if (further.length > 0) throw invalidInput(further, "The hook");
    const { name, auth, filter } = change;
    const patch = {
      ...(name === undefined ? {} : { name }),
      ...(auth === undefined ? {} : { auth }),
      ...(change.mapping === undefined ? {} : { mapping }),
      ...(filter === undefined ? {} : { filter }),
    };
    // Fields of the mapping are laid over the one that was read: another change in between must not be undone.
    const expected = versions ?? (change.mapping === undefined ? null : [before.version]);
    const { result, hook } = await store.hooks.update(principal.project, before.id, patch, expected);
    if (hook === null) throw notFound();
    if (result === "taken") throw nameTaken(name ?? "");
    if (result === "stale") throw staleVersion("The hook", hook.version);
    return asItem(hook);
  },
);

/**
 * Deletes a hook with the bodies that are kept of it, if it has one of the expected versions, and answers it as it was.
 * Messages that it made stay. Scope messages:write. Throws not_found, and version_conflict with the present `ETag`.
 */
export const deleteHook = audited(
  "hooks.delete",
  async function deleteHook(
    { store }: { store: Store },
    principal: Principal,
    id: string,
    versions: ExpectedVersions = null,
  ): Promise<HookItem> {
    requireScope(principal, "messages:write");
    const hook = await readHook(store, principal, id);
    if (!(await store.hooks.remove(principal.project, hook.id, versions))) {
      throw staleVersion("The hook", (await readHook(store, principal, id)).version);
    }
    return asItem(hook);
  },
);

/**
 * Gives a hook a new secret: the given one, or one that the service makes and that is in the result alone. The secret
 * before counts too until the overlap is over. Scope messages:write. Throws not_found, and invalid_request with every
 * fault of the input.
 */
export const rotateHookSecret = audited(
  "hooks.rotate",
  async function rotateHookSecret(
    { store }: { store: Store },
    principal: Principal,
    id: string,
    input: HookRotateInput,
  ): Promise<HookSecretItem> {
    requireScope(principal, "messages:write");
    const { secret, overlapSeconds } = checkInput(hookRotateSchema, input, "The rotation");
    const { auth } = await readHook(store, principal, id);
    const faults = secretFaults(auth, secret);
    if (faults.length > 0) throw invalidInput(faults, "The rotation");
    const isGiven = secret !== undefined;
    const live = secret ?? generateSecret(auth);
    const hook = await store.hooks.rotate(principal.project, id, store.sealer.seal(live), overlapSeconds);
    if (hook === null) throw notFound();
    return withSecret(hook, live, isGiven);
  },
);

/**
 * The last bodies of a hook, newest first, at most 20 and none older than 30 days, each with what became of it. Scope
 * messages:write. Throws not_found.
 */
export async function listHookBodies(
  { store }: { store: Store },
  principal: Principal,
  id: string,
): Promise<ListPage<HookBodyItem>> {
  requireScope(principal, "messages:write");
  const hook = await readHook(store, principal, id);
  const bodies = await store.hooks.listBodies(principal.project, hook.id);
  return { items: bodies.map(asBodyItem), nextCursor: null };
}

/**
 * Tries a body again with the mapping and filter as they are now, and answers it with what became of it. One that has
 * become a message stays that one. Scope messages:write. Throws not_found, and what `takeHookBody` throws.
 */
export const retryHookBody = audited(
  "hooks.retry",
  async function retryHookBody(
    { store, takeHookBody }: { store: Store; takeHookBody: TakeHookBody },
    principal: Principal,
    id: string,
    bodyId: string,
  ): Promise<HookBodyItem> {
    requireScope(principal, "messages:write");
    const { project } = principal;
    const hook = await readHook(store, principal, id);
    const body = isUuid(bodyId) ? await store.hooks.findBody(project, hook.id, bodyId) : null;
    if (body === null) throw new ServiceError("not_found", "This hook keeps no such body; it keeps the last 20.");
    if (body.messageId !== null) return asBodyItem(body);
    await store.hooks.noteBody(project, body.id, await takeHookBody(hook, body));
    return asBodyItem((await store.hooks.findBody(project, hook.id, body.id)) ?? body);
  },
);

/**
 * Says what a hook makes of a body, without sending or keeping anything. Scope messages:write. Throws not_found, and
 * invalid_request for an input that is not valid; faults of the mapping are in the result.
 */
export async function testHook(
  { store, guard }: { store: Store; guard: Pick<AddressGuard, "checkUrl"> },
  principal: Principal,
  id: string,
  input: HookTestInput,
): Promise<HookTestResult> {
  requireScope(principal, "messages:write");
  const { body, headers = {} } = checkInput(hookTestSchema, input, "The test");
  const hook = await readHook(store, principal, id);
  if (isDeeperThan(body, HOOK_LIMITS.bodyMaxDepth)) {
    const detail = `at most ${HOOK_LIMITS.bodyMaxDepth} levels deep`;
    throw invalidInput([{ pointer: "/body", code: "too_deep", detail }], "The test");
  }
  const secrets = await store.projects.findWebhookSecrets(principal.project);
  const given = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const known = HOOK_HEADERS.flatMap((name) => {
    const value = given.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const document = { body, headers: Object.fromEntries(known) };
  const { faults, ...mapped } = mapBody(hook, document, { guard, hasWebhookSecret: secrets?.webhookSecret != null });
  return { ...mapped, errors: faults };
}
