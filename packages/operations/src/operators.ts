import { hashPassword, makeLink, requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import {
  ServiceError,
  checkInput,
  invalidInput,
  notificationSettingsSchema,
  operatorChangeSchema,
  operatorInputSchema,
} from "@svc/contracts";
import type { Operator, OperatorInput, OperatorLink } from "@svc/contracts";
import { isUuid } from "@svc/primitives";
import type { NewRole, OperatorOutcome, OperatorRecord, Store } from "@svc/store";
import { readPage, staleVersion, operation } from "./operation.ts";

const notFound = () => new ServiceError("not_found", "No operator with this ID exists.");

const emailTaken = () =>
  invalidInput([{ pointer: "/email", code: "taken", detail: "is already used by another operator" }], "The operator");

const lastAdministrator = (pointer: string) =>
  invalidInput(
    [
      {
        pointer,
        code: "last_administrator",
        detail: "there must be at least one other administrator of all projects (role administrator, *)",
      },
    ],
    "The operator",
  );

function asItem(record: OperatorRecord): Operator {
  return {
    ...record,
    createdAt: record.createdAt.toISOString(),
    lastSeenAt: record.lastSeenAt?.toISOString() ?? null,
    disabledAt: record.disabledAt?.toISOString() ?? null,
    notifications: notificationSettingsSchema.parse(record.notifications),
  };
}

async function readOperator(store: Store, id: string): Promise<OperatorRecord> {
  const record = isUuid(id) ? await store.operators.find(id) : null;
  if (record === null) throw notFound();
  return record;
}

/** Returns roles with the ids of their projects. Throws invalid_request for unknown projects. */
async function rolesOf(store: Store, roles: OperatorInput["roles"]): Promise<NewRole[] | undefined> {
  if (roles === undefined) return undefined;
  const idOf = new Map((await store.projects.list()).map(({ id, name }) => [name, id]));
  const found = roles.map(({ project, role }) => ({ project: project === "*" ? null : idOf.get(project), role }));
  const errors = found.flatMap(({ project }, index) =>
    project === undefined
      ? [{ pointer: `/roles/${index}/project`, code: "not_found", detail: "is not the name of a project" }]
      : [],
  );
  if (errors.length > 0) throw invalidInput(errors, "The operator");
  return found.map(({ project = null, role }) => ({ project, role }));
}

async function hashOf(password: string | null | undefined): Promise<string | null | undefined> {
  return typeof password === "string" ? hashPassword(password) : password;
}

/** Returns the changed operator. Throws the error of an outcome; `pointer` is the rejected field. */
function changed({ result, record }: OperatorOutcome, pointer: string): OperatorRecord {
  if (result === "taken") throw emailTaken();
  if (result === "last") throw lastAdministrator(pointer);
  if (record === null) throw notFound();
  if (result === "stale") throw staleVersion("The operator", record.version);
  return record;
}

/** Returns a page of the operators, newest first; `q` searches name and e-mail address. */
export const listOperators = operation("listOperators", async ({ store }, _principal, input) => {
  return readPage("operators", input, { read: (query) => store.operators.listPage(query), asItem });
});

/** Returns the operator with this id. */
export const getOperator = operation("getOperator", async ({ store }, _principal, id) => {
  return asItem(await readOperator(store, id));
});

/** Returns the operator with this id or e-mail address, ignoring case. Scope admin:*. Throws not_found. */
export async function findOperator(
  { store }: { store: Store },
  principal: Principal,
  named: string,
): Promise<Operator> {
  requireScope(principal, "admin:*");
  const record = isUuid(named) ? await store.operators.find(named) : await store.operators.findByEmail(named);
  if (record === null) throw new ServiceError("not_found", "No operator with this ID or email address exists.");
  return asItem(record);
}

/**
 * Creates an operator; only a hash of the password is stored. Throws invalid_request for an unknown project, and if the
 * e-mail address is in use.
 */
export const createOperator = operation(
  "createOperator",
  async ({ store }, _principal, input) => {
    const { email, name, roles: wanted, password } = checkInput(operatorInputSchema, input, "The operator");
    const roles = await rolesOf(store, wanted);
    const record = await store.operators.insert({ email, name, roles, passwordHash: await hashOf(password) });
    if (record === null) throw emailTaken();
    return asItem(record);
  },
  { audit: "operators.create", isGlobal: true },
);

/**
 * Changes the given fields if the operator has one of the expected versions. Throws invalid_request like
 * `createOperator`, and if no administrator of all projects would be left.
 */
export const updateOperator = operation(
  "updateOperator",
  async ({ store }, _principal, { id, versions = null }, input) => {
    const { roles: wanted, password, ...change } = checkInput(operatorChangeSchema, input, "The operator");
    await readOperator(store, id);
    const roles = await rolesOf(store, wanted);
    const fields = { ...change, roles, passwordHash: await hashOf(password) };
    const outcome = await store.operators.update(id, fields, versions);
    return asItem(changed(outcome, change.disabled === true ? "/disabled" : "/roles"));
  },
  { audit: "operators.update", isGlobal: true },
);

/**
 * Deletes an operator if it has one of the expected versions, and returns it. Throws invalid_request for the last
 * administrator of all projects.
 */
export const deleteOperator = operation(
  "deleteOperator",
  async ({ store }, _principal, { id, versions = null }) => {
    const record = await readOperator(store, id);
    const outcome = await store.operators.remove(record.id, versions);
    if (outcome.result !== "changed") changed(outcome, "");
    return asItem(record);
  },
  { audit: "operators.delete", isGlobal: true },
);

/**
 * Creates a single-use link for an operator to choose a password within a day; it invalidates an earlier one. Its
 * address is the console's, with the token as `/link#<token>`. Throws not_found, also for an operator who may not sign
 * in.
 */
export const createOperatorLink = operation(
  "createOperatorLink",
  async ({ store }, _principal, id): Promise<OperatorLink> => {
    const record = await readOperator(store, id);
    if (record.disabledAt !== null) {
      throw new ServiceError("not_found", "This operator is disabled. Enable the operator first.");
    }
    const { token, expiresAt } = await makeLink(store, record.id);
    return { token, expiresAt: expiresAt.toISOString() };
  },
  { audit: "operators.link", isGlobal: true },
);

/**
 * Creates the link to become the first administrator of the console; null if someone can sign in by password already.
 * For people on the machine itself: there is no endpoint for it.
 */
export async function makeFirstLink({ store }: { store: Store }): Promise<{ token: string; expiresAt: Date } | null> {
  if (!(await store.operatorLinks.isFirstMissing())) return null;
  return makeLink(store, null);
}
