import { isAdministrator, requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import {
  AUDIT_LIMITS,
  auditCheckInputSchema,
  auditFilterSchema,
  checkInput,
  describeIssue,
  invalidInput,
  writeAuditPosition,
} from "@svc/contracts";
import type { AuditCheckItem, AuditItem, FieldError, ListPage } from "@svc/contracts";
import { isUuid } from "@svc/primitives";
import type { AuditEvent, AuditProblemKind, AuditFilter, AuditRange, Store } from "@svc/store";
import { readPage, searchErrors, operation } from "./operation.ts";

const DAY_MS = 86_400_000;

/** Actors with a name: the kind and id of an operator or key. */
const NAMED_ACTOR = /^(?:operator|key):(.+)$/;

const idOfActor = (actor: string): string | undefined => NAMED_ACTOR.exec(actor)?.[1];

/** Adds the current names of actors and objects, as far as the principal may see them. */
async function nameRows(
  { store }: { store: Store },
  principal: Principal,
  rows: readonly AuditEvent[],
): Promise<AuditItem[]> {
  const names = await store.audit.findNames(
    {
      actorIds: rows.map(({ actor }) => idOfActor(actor) ?? "").filter(isUuid),
      objectIds: rows.map(({ object }) => object ?? "").filter(isUuid),
    },
    isAdministrator(principal) ? null : principal.project,
  );
  const nameOf = (id: string | null | undefined) => names.get(id ?? "") ?? null;
  return rows.map(({ at, ...event }) => ({
    ...event,
    at: at.toISOString(),
    actorName: nameOf(idOfActor(event.actor)),
    objectName: nameOf(event.object),
  }));
}

/** Returns the project whose rows are requested: the principal's own, or any for an administrator. */
async function chooseProject(
  store: Store,
  principal: Principal,
  name: string | undefined,
): Promise<AuditFilter["project"]> {
  if (!isAdministrator(principal)) {
    if (name !== undefined && name !== principal.projectName) requireScope(principal, "admin:*");
    return { id: principal.project };
  }
  if (name === undefined) return undefined;
  // A renamed project is found by its id; the rows of a deleted one have its name.
  const project = await store.projects.findByName(name);
  return project === null ? { name } : { id: project.id };
}

/**
 * Returns a page of the audit log, newest first: the rows of the principal's project; for an administrator, those of
 * all projects and of the installation, unless a project is given. Scope audit:read; the rows of another project need
 * admin:*.
 */
export const listAuditEvents = operation(
  "listAuditEvents",
  async ({ store }, principal, { limit, cursor, q, ...input }): Promise<ListPage<AuditItem>> => {
    const parsed = auditFilterSchema.safeParse(input);
    const issues = parsed.success ? [] : parsed.error.issues;
    const found = issues.map((issue): FieldError => ({ pointer: `/${issue.path.join("/")}`, ...describeIssue(issue) }));
    const errors = [...found, ...searchErrors(q)];
    const { project: name, ...filter } = parsed.data ?? {};
    const project = await chooseProject(store, principal, name);
    const { items, nextCursor } = await readPage(
      "audit",
      { limit, cursor },
      { read: (query) => store.audit.listPage({ ...filter, project }, query), found: errors },
    );
    return { items: await nameRows({ store }, principal, items), nextCursor };
  },
);

/** Meaning of each problem, and advice. */
const ERRORS: Record<AuditProblemKind, string> = {
  changed: "This row or the previous one was changed after it was written.",
  missing: "The row with this number is missing, although later rows exist.",
  unlinked: "This row does not follow the last row of the previous day: rows were deleted, or a row was changed.",
  truncated: "Rows at the end of the chain were deleted, starting with this one.",
  added: "Rows after the end of the chain, up to this one, were not written by the service.",
  unexpected: "The row whose hash was saved is missing or was changed.",
};

/** Returns the default range and the maximum number of rows, so that a call over HTTP does not take long. */
function limitRange(range: AuditRange): Pick<AuditRange, "from" | "maxRows"> {
  const { checkMaxDays, checkMaxRows: maxRows } = AUDIT_LIMITS;
  // A continued check was limited by days before.
  if (range.after !== undefined) return { maxRows };
  const toMs = Date.parse(range.to ?? new Date().toISOString().slice(0, 10));
  const from = range.from ?? new Date(toMs - (checkMaxDays - 1) * DAY_MS).toISOString().slice(0, 10);
  if (toMs - Date.parse(from) < checkMaxDays * DAY_MS) return { from, maxRows };
  const detail = `must be at most ${checkMaxDays} days before the end; to check the whole log, use svc audit verify`;
  throw invalidInput([{ pointer: "/from", code: "too_long", detail }], "The query");
}

/** Dependencies of `verifyAudit`. */
interface VerifyDeps {
  store: Store;
  /** True for checks that may take long, such as those of the command line. */
  isUnlimited?: boolean;
}

/**
 * Checks the chain of the audit log, row by row: by default at most 31 days, ending today, and 100,000 rows; `next` is
 * where to continue. A broken chain is a result, not an error.
 */
export const verifyAudit = operation(
  "verifyAudit",
  async ({ store, isUnlimited = false }: VerifyDeps, _principal, input): Promise<AuditCheckItem> => {
    const asked = checkInput(auditCheckInputSchema, input, "The query");
    const range = { ...asked, ...(isUnlimited ? {} : limitRange(asked)) };
    const { fault: error, rows, head: last, isPartial } = await store.audit.check(range);
    const head = last === null ? null : writeAuditPosition(last);
    return {
      isIntact: error === null,
      rows,
      from: range.from ?? null,
      to: range.to ?? null,
      head,
      next: isPartial ? head : null,
      fault: error === null ? null : { ...error, detail: ERRORS[error.kind] },
    };
  },
);
