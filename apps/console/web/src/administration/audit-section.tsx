import { ShieldCheck, ScrollText } from "lucide-react";
import { useEffect, useRef, useState, Fragment } from "react";
import type { AuditCheckItem, AuditItem } from "@svc/contracts";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { auditPagesQuery } from "../api/administration.ts";
import type { AuditFilter } from "../api/administration.ts";
import { CopyBox } from "../forms/copy-box.tsx";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { PagedList } from "../lists/paged-list.tsx";
import { useServices, usePeople, useProject, useRights, useSession } from "../session/services.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { ErrorNotice, Notice, EmptyState } from "../ui/notice.tsx";
import {
  AUDIT_ACTIONS,
  AUDIT_ACTORS,
  AUDIT_RESULTS,
  describeAction,
  describeActor,
  describeObject,
  describeResult,
} from "./audit-words.ts";

const ERRORS: Record<NonNullable<AuditCheckItem["fault"]>["kind"], TextKey> = {
  changed: "auditCheck.changed",
  missing: "auditCheck.missing",
  unlinked: "auditCheck.unlinked",
  truncated: "auditCheck.truncated",
  added: "auditCheck.added",
  unexpected: "auditCheck.unexpected",
};

/** How far a check is, and what it found in the end. */
interface Check {
  rows: number;
  /** Null while it goes on. */
  result: AuditCheckItem | null;
}

/** Checks the chain of the last 31 days of the audit trail, part by part, and says what it found. */
function AuditCheck() {
  const { number, t } = useTexts();
  const { connection } = useServices();
  const [check, setCheck] = useState<Check | null>(null);
  const [error, setError] = useState<unknown>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const isRunning = check !== null && check.result === null && error === null;

  async function run() {
    const controller = new AbortController();
    running.current = controller;
    setError(null);
    setCheck({ rows: 0, result: null });
    try {
      let rows = 0;
      for (let after: string | null = null; ;) {
        const query: { after?: string } = after === null ? {} : { after };
        const { item }: { item: AuditCheckItem } = await connection.call("verifyAudit", null, {
          query,
          signal: controller.signal,
        });
        rows += item.rows;
        const isOver = item.next === null || item.fault !== null;
        setCheck({ rows, result: isOver ? item : null });
        if (isOver) return;
        after = item.next;
      }
    } catch (cause) {
      // Who has left the page asks for nothing more.
      if (!controller.signal.aborted) setError(cause);
    }
  }

  const result = check?.result ?? null;
  return (
    <div className="mb-4 flex flex-col gap-3">
      <Button className="self-start" isBusy={isRunning} onClick={() => void run()}>
        <ShieldCheck aria-hidden className="size-4" />
        {t("auditCheck.run")}
      </Button>
      <div aria-live="polite" className="flex flex-col gap-2 empty:hidden">
        {isRunning && <p className="text-sm text-muted">{t("auditCheck.running", { n: check.rows })}</p>}
        {error !== null && <ErrorNotice error={error} onRetry={() => void run()} />}
        {result !== null && result.fault === null && (
          <Notice>
            <p>{t("auditCheck.intact", { n: check?.rows ?? 0 })}</p>
            {result.head !== null && (
              <div className="mt-2">
                <p className="mb-1 text-xs text-muted">
                  {t("auditCheck.keep", { command: "svc audit verify --expect" })}
                </p>
                <CopyBox label={t("auditCheck.head")} text={result.head} isWrapped />
              </div>
            )}
          </Notice>
        )}
        {result !== null && result.fault !== null && (
          <Notice look="bad">
            <p className="font-medium">{t(ERRORS[result.fault.kind])}</p>
            <p>{t("auditCheck.place", { day: result.fault.day, number: number(result.fault.number) })}</p>
            <p className="text-xs text-muted">{result.fault.detail}</p>
          </Notice>
        )}
      </div>
    </div>
  );
}

const NOTHING: AuditFilter = { actor: "", action: "", object: "", result: "", project: "", from: "", to: "" };

const DAY_MS = 86_400_000;
const DAYS = [
  { name: "from", label: "audit.from" },
  { name: "to", label: "audit.to" },
] as const satisfies readonly { name: keyof AuditFilter; label: TextKey }[];

const capitalize = (text: string) => text.charAt(0).toLocaleUpperCase() + text.slice(1);
const sortByLabel = (options: readonly { value: string; label: string }[]) =>
  options.toSorted((a, b) => a.label.localeCompare(b.label));

const PART = "max-w-full truncate rounded-sm text-left hover:text-ink hover:underline";

/** Returns the day after a day (`YYYY-MM-DD`). */
const dayAfter = (day: string) => new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);

/** What narrows the list down, and the name of an actor or object that was chosen in a row. */
type Picked = Partial<AuditFilter> & { name?: string };

function AuditRow({ item, onPick }: { item: AuditItem; onPick: (picked: Picked) => void }) {
  const { dateTime, t } = useTexts();
  const { projects } = useSession();
  const { action, actor, at, count, network, object, project, requestId, result } = item;
  const who = describeActor(item, t);
  const what = describeObject(item, t);
  const hasTicket = action.startsWith("tickets.") && object !== null && projects.some(({ name }) => name === project);
  const details = [
    { label: t("audit.action"), value: action },
    { label: t("audit.result"), value: result },
    { label: t("audit.actorId"), value: actor },
    { label: t("audit.objectId"), value: object },
    { label: t("audit.network"), value: network },
    { label: t("audit.requestId"), value: requestId },
  ];
  return (
    <div className="flex flex-wrap items-start gap-x-3 gap-y-1 text-sm">
      <time dateTime={at} className="w-36 shrink-0 pt-0.5 text-xs text-muted tabular-nums">
        {dateTime(at)}
      </time>
      <div className="min-w-0 flex-1 basis-56">
        <p className="flex flex-wrap items-center gap-x-1.5 gap-y-1">
          <button type="button" className={`${PART} font-medium`} onClick={() => onPick({ actor, name: who })}>
            {who}
          </button>
          <button type="button" className={PART} onClick={() => onPick({ action })}>
            {describeAction(item, t)}
          </button>
          {object !== null && what !== null && (
            <button type="button" className={`${PART} font-medium`} onClick={() => onPick({ object, name: what })}>
              {what}
            </button>
          )}
          {result !== "ok" && (
            <button type="button" onClick={() => onPick({ result })} className="rounded">
              <Badge tone="bad">{describeResult(result, t)}</Badge>
            </button>
          )}
          {count > 1 && <span className="text-xs text-muted">{t("audit.count", { n: count })}</span>}
        </p>
        <div className="mt-0.5 flex flex-wrap items-start gap-x-3 gap-y-1 text-xs text-muted">
          {project !== null && <span>{t("ticket.inProject", { project })}</span>}
          {hasTicket && (
            <Link
              to="/$project/inbox/$view/$ticketId"
              params={{ project: project ?? "", view: "all", ticketId: object }}
              className="rounded-sm font-medium text-accent hover:underline"
            >
              {t("audit.openTicket")}
            </Link>
          )}
          <details className="open:basis-full">
            <summary className="w-fit rounded-sm hover:text-ink">{t("audit.details")}</summary>
            <dl className="mt-1 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5">
              {details.map(
                ({ label, value }) =>
                  value !== null && (
                    <Fragment key={label}>
                      <dt>{label}</dt>
                      <dd className="font-mono wrap-anywhere">{value}</dd>
                    </Fragment>
                  ),
              )}
            </dl>
          </details>
        </div>
      </div>
    </div>
  );
}

/** The audit log: what was done and what was denied. */
export function AuditSection() {
  const { t } = useTexts();
  const { connection } = useServices();
  const current = useProject();
  const { projects } = useSession();
  const { people } = usePeople();
  const isAdministrator = useRights()("admin:*");
  const [filter, setFilter] = useState(NOTHING);
  /** Names of actors and objects that were chosen in a row, by what the filter is set to. */
  const [names, setNames] = useState<Readonly<Record<string, string>>>({});
  const { to } = filter;
  const events = useInfiniteQuery(
    auditPagesQuery(connection, current, { ...filter, to: to === "" ? "" : dayAfter(to) }),
  );
  const isFiltered = Object.values(filter).some((value) => value !== "");

  const set = (part: Partial<AuditFilter>) => setFilter((known) => ({ ...known, ...part }));
  function pick({ name, ...part }: Picked) {
    set(part);
    const value = part.actor ?? part.object;
    if (value !== undefined && name !== undefined) setNames((known) => ({ ...known, [value]: name }));
  }

  const withAny = (name: keyof AuditFilter, values: readonly { value: string; label: string }[]) => {
    const value = filter[name];
    const chosen = value === "" || values.some((other) => other.value === value) ? [] : [value];
    return [
      { value: "", label: t("audit.any") },
      ...values,
      ...chosen.map((other) => ({ value: other, label: names[other] ?? other })),
    ];
  };
  const actors = [
    ...people.map(({ actor, name }) => ({ value: actor, label: name })),
    ...AUDIT_ACTORS.map((actor) => ({ value: actor, label: t(`audit.actor.${actor}`) })),
  ];
  const actions = AUDIT_ACTIONS.map((action) => ({ value: action, label: capitalize(t(`audit.do.${action}`)) }));
  const results = AUDIT_RESULTS.map((result) => ({ value: result, label: t(`audit.result.${result}`) }));
  const choices = [
    { name: "actor", label: t("audit.actor"), options: withAny("actor", actors) },
    { name: "action", label: t("audit.action"), options: withAny("action", sortByLabel(actions)) },
    { name: "result", label: t("audit.result"), options: withAny("result", results) },
    ...(isAdministrator
      ? [
          {
            name: "project",
            label: t("project.label"),
            options: withAny(
              "project",
              projects.map(({ name }) => ({ value: name, label: name })),
            ),
          } as const,
        ]
      : []),
    ...(filter.object === ""
      ? []
      : [{ name: "object", label: t("audit.object"), options: withAny("object", []) } as const]),
  ] as const;

  return (
    <>
      <p className="mb-3 max-w-2xl text-sm text-muted">
        {t(isAdministrator ? "audit.text" : "audit.textOfProject", { project: current })}
      </p>
      {isAdministrator && <AuditCheck />}
      <div className="mb-4 grid grid-cols-2 items-end gap-3 rounded-xl border border-line bg-surface p-3 sm:grid-cols-4">
        {choices.map(({ label, name, options }) => (
          <SelectField
            key={name}
            label={label}
            value={filter[name]}
            options={options}
            onChange={({ currentTarget }) => set({ [name]: currentTarget.value })}
          />
        ))}
        {DAYS.map(({ label, name }) => (
          <Field
            key={name}
            label={t(label)}
            type="date"
            value={filter[name]}
            onChange={({ currentTarget }) => set({ [name]: currentTarget.value })}
          />
        ))}
        {isFiltered && (
          <Button look="quiet" onClick={() => setFilter(NOTHING)} className="justify-self-start">
            {t("audit.clear")}
          </Button>
        )}
      </div>
      <PagedList
        query={events}
        label={t("administration.audit")}
        empty={
          <EmptyState
            icon={ScrollText}
            title={t(isFiltered ? "audit.noMatch" : "audit.none")}
            text={t(isFiltered ? "audit.noMatchText" : "audit.noneText")}
          >
            {isFiltered && <Button onClick={() => setFilter(NOTHING)}>{t("audit.clear")}</Button>}
          </EmptyState>
        }
      >
        {(item) => <AuditRow item={item} onPick={pick} />}
      </PagedList>
    </>
  );
}
