import {
  CHANNEL_LIMITS,
  MASKED_SECRET,
  ServiceError,
  checkInput,
  invalidInput,
  projectChangeSchema,
  projectDeletionSchema,
  projectInputSchema,
} from "@svc/contracts";
import type { ProjectChange, ProjectItem } from "@svc/contracts";
import { isUuid } from "@svc/primitives";
import { announceRemoval } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { DEFAULT_PROJECT, asProjectId } from "@svc/store";
import type { Project, Store } from "@svc/store";
import { readPage, staleVersion, operation } from "./operation.ts";
import { nextWebhookSecret, storeWebhookSecret } from "./webhook-events.ts";

function asItem({ createdAt, ...project }: Project): ProjectItem {
  const { id, name, handoffText, handoffTexts, greeting, tablesAsXlsx, retentionDays, fileRetentionDays } = project;
  const { modelLimits, quotas, businessHours, replyTimeMinutes, slaTargets, replyEmails, version } = project;
  const { webhookSecret, previousWebhookSecret: previous } = project;
  const isOver = previous === null || Date.parse(previous.until) <= Date.now();
  const settings = {
    handoffText,
    handoffTexts,
    greeting,
    tablesAsXlsx,
    retentionDays,
    fileRetentionDays,
    modelLimits,
    quotas,
    businessHours,
    replyTimeMinutes,
    slaTargets: [...slaTargets],
    replyEmails,
  };
  const secrets = {
    webhookSecret: webhookSecret === null ? null : MASKED_SECRET,
    previousWebhookSecretUntil: isOver ? null : previous.until,
  } as const;
  return { id, name, ...settings, ...secrets, createdAt: createdAt.toISOString(), version };
}

/** Returns a page of all projects, newest first. */
export const listProjects = operation("listProjects", async ({ store }, _principal, input) => {
  return readPage("projects", input, { read: (query) => store.projects.listPage(query), asItem });
});

const nameTaken = () =>
  invalidInput([{ pointer: "/name", code: "taken", detail: "is already used by another project" }], "The project");

async function readProject(store: Store, id: string): Promise<Project> {
  const project = isUuid(id) ? await store.projects.find(asProjectId(id)) : null;
  if (project === null) throw new ServiceError("not_found", "No project with this ID exists.");
  return project;
}

/** Returns the project with this id. */
export const getProject = operation("getProject", async ({ store }, _principal, id) => {
  return asItem(await readProject(store, id));
});

/** Creates a project, without agents and knowledge bases. Throws invalid_request if there is a project of this name. */
export const createProject = operation(
  "createProject",
  async ({ store }, _principal, input) => {
    const project = await store.projects.insert(checkInput(projectInputSchema, input, "The project"));
    if (project === null) throw nameTaken();
    return asItem(project);
  },
  { audit: "projects.create", isGlobal: true },
);

/** Returns the change of the project's webhook secret; undefined if it does not change. Throws invalid_request. */
function secretOf(
  store: Store,
  project: Project,
  { webhookSecret: secret, overlapSeconds }: ProjectChange,
): { secret: string | null; overlapSeconds: number } | undefined {
  if (secret === undefined || secret === MASKED_SECRET) {
    if (overlapSeconds === undefined) return undefined;
    const detail = "requires a new webhookSecret in the same request";
    throw invalidInput([{ pointer: "/overlapSeconds", code: "not_allowed", detail }], "The project");
  }
  const change = { secret, overlapSeconds: overlapSeconds ?? CHANNEL_LIMITS.overlapDefaultSeconds };
  // Reports invalid input before anything is changed.
  nextWebhookSecret(store, project, change, "/webhookSecret");
  return change;
}

/**
 * Changes the given fields if the project has one of the expected versions. A new name is used within a second on every
 * replica, and replaces the old one in the settings of the widget; other settings apply to messages after a second.
 * Throws invalid_request for a name in use, and for a new name of `default`.
 */
export const updateProject = operation(
  "updateProject",
  async (
    { store, queues }: { store: Store; queues?: Pick<Queues, "wakeUps"> },
    _principal,
    { id, versions = null },
    input,
  ) => {
    const change = checkInput(projectChangeSchema, input, "The project");
    const before = await readProject(store, id);
    if (before.name === DEFAULT_PROJECT && change.name !== undefined && change.name !== DEFAULT_PROJECT) {
      const detail = `cannot be changed for ${DEFAULT_PROJECT}, which requests that name no project use`;
      throw invalidInput([{ pointer: "/name", code: "not_allowed", detail }], "The project");
    }
    const secret = secretOf(store, before, change);
    const { webhookSecret: _secret, overlapSeconds: _overlap, ...settings } = change;
    const { result, project } = await store.projects.update(before.id, settings, versions);
    if (project === null) throw new ServiceError("not_found", "No project with this ID exists.");
    if (result === "taken") throw nameTaken();
    if (result === "stale") throw staleVersion("The project", project.version);
    const isRetentionChanged = change.retentionDays !== undefined || change.fileRetentionDays !== undefined;
    if (queues !== undefined && isRetentionChanged) announceRemoval(queues, project.id);
    if (secret === undefined) return asItem(project);
    await storeWebhookSecret(store, project, secret);
    return asItem(await readProject(store, id));
  },
  { audit: "projects.update", isGlobal: true },
);

const widgetHindrance = (name: string) => `The widget uses ${name}. Assign the widget to another project first.`;

/** Returns why a project must not be deleted, or null. */
async function findHindrance(store: Store, { name }: Project): Promise<string | null> {
  if (name === DEFAULT_PROJECT) return `${DEFAULT_PROJECT} cannot be deleted: requests that name no project use it.`;
  const { widget } = await store.channelsConfig.read();
  return widget.config.project === name ? widgetHindrance(name) : null;
}

/** Returns the error that lists what would be deleted, and how to confirm it; the console reads the counts from it. */
async function askToConfirm(store: Store, project: Project): Promise<ServiceError> {
  const held = Object.entries(await store.projects.countHeld(project.id)).filter(([, count]) => count > 0);
  const what = held.length === 0 ? "It is empty." : `${held.map(([kind, count]) => `${kind}: ${count}`).join(", ")}.`;
  const detail = `must be ${JSON.stringify(project.name)}, the name of the project`;
  return new ServiceError(
    "invalid_request",
    `This deletes the project ${project.name} and everything in it. ${what} To confirm, send {"confirm":"${project.name}"}.`,
    { errors: [{ pointer: "/confirm", code: "not_confirmed", detail }] },
  );
}

/**
 * Deletes a project with all its data, if it has one of the expected versions and `confirm` is its name; returns it. It
 * can no longer be found, its keys stop working within a second on every replica, and its name can be reused; the space
 * is freed in the background. Tickets from other projects are returned to them. Throws invalid_request: without that
 * confirmation (its text counts what would be deleted), for `default`, and for the project of the widget.
 */
export const deleteProject = operation(
  "deleteProject",
  async ({ store, queues }: { store: Store; queues?: Queues }, _principal, { id, versions = null }, input) => {
    const { confirm } = checkInput(projectDeletionSchema, input, "The deletion");
    const project = await readProject(store, id);
    const hindrance = await findHindrance(store, project);
    if (hindrance !== null) throw new ServiceError("invalid_request", hindrance);
    if (confirm !== project.name) throw await askToConfirm(store, project);
    const result = await store.projects.remove(project.id, versions);
    if (result === "in_use") throw new ServiceError("invalid_request", widgetHindrance(project.name));
    if (result === "stale") throw staleVersion("The project", (await readProject(store, id)).version);
    if (queues !== undefined) announceRemoval(queues, project.id);
    return asItem(project);
  },
  { audit: "projects.delete", isGlobal: true },
);
