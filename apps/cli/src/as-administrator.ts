import { setTimeout as delay } from "node:timers/promises";
import type { Principal } from "@svc/auth";
import type * as operations from "@svc/operations";
import type { Queues } from "@svc/queue";
import type { Resources } from "@svc/runtime";
import { failure, usageError } from "./cli.ts";
import type { Cli } from "./cli.ts";
import type { Client } from "@svc/client";
import { LIST_LIMITS } from "@svc/contracts";
import type {
  Agent,
  CannedReply,
  DocumentItem,
  KbItem,
  KeyItem,
  ListPage,
  ProjectItem,
  Tag,
  TicketDetail,
} from "@svc/contracts";
import { isUuid } from "@svc/primitives";
import { safeLine } from "./terminal.ts";

type OperationsModule = typeof operations;

/** Operations by name, without their dependencies and their principal: those of a command. */
export type BoundOperations = {
  [
    Name in keyof OperationsModule as OperationsModule[Name] extends (
      deps: never,
      principal: Principal,
      ...args: never[]
    ) => unknown
      ? Name
      : never
  ]: OperationsModule[Name] extends (deps: never, principal: Principal, ...args: infer Args) => infer Result
    ? (...args: Args) => Result
    : never;
};

/** The principal of a command, and the resources that its operations use. */
export interface OperationContext {
  principal: Principal;
  resources: Resources;
}

/** Returns the operations of a principal on these resources. */
export async function bindOperations({ principal, resources }: OperationContext): Promise<BoundOperations> {
  const exported: Readonly<Record<string, unknown>> = await import("@svc/operations");
  const bound = Object.entries(exported).flatMap(([name, operation]) =>
    typeof operation === "function"
      ? [[name, (...args: unknown[]): unknown => Reflect.apply(operation, undefined, [resources, principal, ...args])]]
      : [],
  );
  return Object.fromEntries(bound) as BoundOperations;
}

/**
 * Runs work as the person at this machine, on a project, or without a name on the whole installation. Loads the
 * product only here, so that the help of a command does not wait for it.
 */
export async function asAdministrator<Result>(
  cli: Cli,
  projectName: string | undefined,
  work: (bound: BoundOperations, context: OperationContext) => Promise<Result>,
): Promise<Result> {
  const { localPrincipal, withResources } = await import("./with-resources.ts");
  return withResources(cli, {}, async (resources) => {
    const context = { principal: await localPrincipal(resources.store, projectName), resources };
    return work(await bindOperations(context), context);
  });
}

const QUEUES_TIMEOUT_MS = 3_000;
const POLL_MS = 20;

/** Waits up to three seconds until the queues, which connect in the background, can be reached; returns false if they cannot. */
export async function waitForQueues(queues: Queues): Promise<boolean> {
  const deadline = performance.now() + QUEUES_TIMEOUT_MS;
  while (performance.now() < deadline) {
    try {
      // The first call connects.
      await queues.countJobs("incoming-messages");
      return true;
    } catch (error) {
      if (!(error instanceof Error) || error.name !== "QueueDownError") throw error;
      await delay(POLL_MS);
    }
  }
  return false;
}

const NAME_CHARS = 80;
/** Characters of a key that lists show. */
const KEY_PREFIX_CHARS = 8;
/** Maximum number of chats with the same ID, on different channels, that an error names. */
const SAME_CHATS = 10;

/**
 * Throws CliError `usage` for a text that cannot be an ID. `what` begins the error, as in `A delivery id`, and
 * `whereShown` is the command that shows the IDs.
 */
export function requireId(text: string, what: string, whereShown: string): void {
  if (!isUuid(text)) throw usageError(`${what} must be a UUID, as shown by ${whereShown}.`);
}

/** Returns all items of a list, page by page. */
export async function readAll<Item>(
  read: (page: { limit: number; cursor: string | undefined }) => Promise<ListPage<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const page = await read({ limit: LIST_LIMITS.maxItems, cursor });
    items.push(...page.items);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return items;
}

const byName = (one: { name: string }, other: { name: string }) => one.name.localeCompare(other.name);

/** Throws CliError `not_found` for a name that no item has. `others` begins the list of existing names. */
function notFound(what: string, others: string, name: string, items: readonly { name: string }[]): never {
  const names = items.map((item) => safeLine(item.name, NAME_CHARS)).join(", ");
  const advice = items.length === 0 ? `There are no ${others.toLowerCase()} yet.` : `${others}: ${names}.`;
  throw failure("not_found", `No ${what} is named "${safeLine(name, NAME_CHARS)}". ${advice}`);
}

/** Returns the item with this name or ID. */
const pick = <Item extends { id: string; name: string }>(items: readonly Item[], name: string): Item | undefined =>
  items.find((item) => item.name === name) ?? items.find(({ id }) => id === name.toLowerCase());

/** Returns all knowledge bases of the project, by name. */
export async function listAllKbs({ listKbs }: Pick<BoundOperations, "listKbs">): Promise<KbItem[]> {
  return (await readAll(listKbs)).toSorted(byName);
}

/** Returns all documents of a knowledge base, by key. */
export async function listAllDocuments({ listDocuments }: BoundOperations, kbId: string): Promise<DocumentItem[]> {
  const items = await readAll((page) => listDocuments(kbId, page));
  return items.toSorted((one, other) => (one.key < other.key ? -1 : 1));
}

/** Returns the knowledge base with this name, or null. */
export async function findKb(operations: BoundOperations, name: string): Promise<KbItem | null> {
  return (await listAllKbs(operations)).find((kb) => kb.name === name) ?? null;
}

/** Returns the knowledge base with this name. Throws CliError `not_found` with the names that exist. */
export async function getKb(operations: BoundOperations, name: string): Promise<KbItem> {
  const kbs = await listAllKbs(operations);
  return kbs.find((kb) => kb.name === name) ?? notFound("knowledge base", "Knowledge bases", name, kbs);
}

/** Returns the managed tag with this name or ID. Throws CliError `not_found` with the names that exist. */
export async function getTagNamed({ listTags }: BoundOperations, name: string): Promise<Tag> {
  const tags = (await readAll(listTags)).toSorted(byName);
  return pick(tags, name) ?? notFound("managed tag", "Managed tags", name, tags);
}

/** Returns the canned reply with this name or ID. Throws CliError `not_found` with the names that exist. */
export async function getCannedReplyNamed({ listCannedReplies }: BoundOperations, name: string): Promise<CannedReply> {
  const replies = (await readAll(listCannedReplies)).toSorted(byName);
  return pick(replies, name) ?? notFound("canned reply", "Canned replies", name, replies);
}

/** Returns all agents of the project, by name. */
export async function listAllAgents({ listAgents }: BoundOperations): Promise<Agent[]> {
  return (await readAll(listAgents)).toSorted(byName);
}

/** Returns all agents of the client's project, by name, from the running service. */
export async function fetchAgents(client: Client): Promise<Agent[]> {
  const read = ({ limit, cursor }: { limit: number; cursor: string | undefined }) =>
    client.call("listAgents", { query: { limit, ...(cursor === undefined ? {} : { cursor }) } });
  return (await readAll<Agent>(read)).toSorted(byName);
}

/** Returns the agent with this name or ID. Throws CliError `not_found` with the names that exist. */
export const pickAgent = (agents: readonly Agent[], name: string): Agent =>
  pick(agents, name) ?? notFound("agent", "Agents", name, agents);

/** Like `pickAgent`, among all agents of the project. */
export async function getAgent(operations: BoundOperations, name: string): Promise<Agent> {
  return pickAgent(await listAllAgents(operations), name);
}

/** Returns all projects, by name. */
export async function listAllProjects({ listProjects }: BoundOperations): Promise<ProjectItem[]> {
  return (await readAll(listProjects)).toSorted(byName);
}

/** Returns the project with this name or ID. Throws CliError `not_found` with the names that exist. */
export async function getProject(operations: BoundOperations, name: string): Promise<ProjectItem> {
  const projects = await listAllProjects(operations);
  return pick(projects, name) ?? notFound("project", "Projects", name, projects);
}

/** Returns all keys, newest first; with `q`, those whose name or prefix contains it. */
export const listAllKeys = ({ listKeys }: BoundOperations, q?: string): Promise<KeyItem[]> =>
  readAll((page) => listKeys({ ...page, q }));

/**
 * Returns the ID of a key from its ID or from its prefix as shown in lists. Throws CliError `usage` for what is
 * probably a whole key, `not_found`, and `ambiguous` with the keys that have this prefix.
 */
export async function findApiKeyId(operations: BoundOperations, named: string): Promise<string> {
  // Lists show this sign after the prefix of a key.
  const name = named.replace(/…$/, "");
  if (isUuid(name)) return name;
  // The given text is not repeated: it may be a secret.
  if (name === "" || Array.from(name).length > KEY_PREFIX_CHARS) {
    throw usageError("Specify the key by its ID, or by its prefix as shown by keys list; never by the key itself.");
  }
  const found = await listAllKeys(operations, name);
  const meant = found.filter(({ prefix, revokedAt }) => revokedAt === null && prefix.startsWith(name));
  const [only, ...others] = meant;
  if (only === undefined) throw failure("not_found", "No active key has this prefix. See: svc keys list");
  if (others.length === 0) return only.id;
  const lines = meant.map((item) => `  ${item.id}  ${safeLine(item.prefix)}…  ${safeLine(item.name)}`);
  throw failure("ambiguous", `Several keys have this prefix; specify the ID:\n${lines.join("\n")}`);
}

/** Returns the ID of a ticket from its ID or that of its chat. Throws CliError `not_found` or `ambiguous`. */
export async function findTicketId({ listTickets }: BoundOperations, named: string): Promise<string> {
  if (isUuid(named)) return named;
  const { items } = await listTickets({ chatId: named, limit: SAME_CHATS });
  const [found, ...others] = items;
  if (found !== undefined && others.length === 0) return found.id;
  const name = `"${safeLine(named, NAME_CHARS)}"`;
  if (found === undefined) throw failure("not_found", `No ticket or chat ${name} exists. See: svc tickets list`);
  const ids = items.map(({ id }) => id).join(", ");
  throw failure("ambiguous", `Several channels have a chat ${name}. Specify a ticket: ${ids}`);
}

/** Returns a ticket by its ID or that of its chat. Throws CliError and ServiceError `not_found`. */
export async function getTicketNamed(operations: BoundOperations, named: string): Promise<TicketDetail> {
  return operations.getTicket(await findTicketId(operations, named));
}
