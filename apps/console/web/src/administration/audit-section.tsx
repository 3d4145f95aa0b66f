import { ShieldCheck, ScrollText } from "lucide-react";
import { Fragment, useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import { mapChannels } from "@svc/contracts";
import type { AuditCheckItem, AuditItem, ChannelId } from "@svc/contracts";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { auditPagesQuery } from "../api/administration.ts";
import type { AuditFilter } from "../api/administration.ts";
import { CopyBox, CopyId } from "../forms/copy-box.tsx";
import { startOf } from "../overview/overview-search.ts";
import { textOf, useTexts } from "../i18n/texts.ts";
import type { TextKey, Texts } from "../i18n/texts.ts";
import { ResourcePage } from "../lists/resource-page.tsx";
import { usePeople, useProject, useRights, useServices, useSession } from "../session/services.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { ErrorNotice, Notice } from "../ui/notice.tsx";

const ERRORS: Record<NonNullable<AuditCheckItem["fault"]>["kind"], TextKey> = {
  changed: "auditCheck.changed",
  missing: "auditCheck.missing",
  unlinked: "auditCheck.unlinked",
  truncated: "auditCheck.truncated",
  added: "auditCheck.added",
  unexpected: "auditCheck.unexpected",
};

/** The progress of a check, and its result. */
interface Check {
  rows: number;
  /** Null while it runs. */
  result: AuditCheckItem | null;
}

/** Checks the chain of the last 31 days of the audit log, part by part. */
function useAuditCheck() {
  const { connection } = useServices();
  const [check, setCheck] = useState<Check | null>(null);
  const [error, setError] = useState<unknown>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  async function run() {
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setError(null);
    setCheck({ rows: 0, result: null });
    try {
      let rows = 0;
      for (let after: string | null = null; ;) {
        const query: { after?: string } = after === null ? {} : { after };
        const { item }: { item: AuditCheckItem } = await connection.call("verifyAudit", null, { query, signal });
        rows += item.rows;
        const isOver = item.next === null || item.fault !== null;
        setCheck({ rows, result: isOver ? item : null });
        if (isOver) return;
        after = item.next;
      }
    } catch (cause) {
      // The operator has left the page.
      if (!signal.aborted) setError(cause);
    }
  }
  const isRunning = check !== null && check.result === null && error === null;
  return { rows: check?.rows ?? 0, result: check?.result ?? null, error, isRunning, run: () => void run() };
}

/** Checks the audit log, and shows the result. */
function AuditCheck() {
  const { number, t } = useTexts();
  const { rows, result, error, isRunning, run } = useAuditCheck();
  return (
    <div className="mb-4 flex flex-col gap-3">
      <Button icon={ShieldCheck} className="self-start" isBusy={isRunning} onClick={run}>
        {t("auditCheck.run")}
      </Button>
      <div aria-live="polite" className="flex flex-col gap-2 empty:hidden">
        {isRunning && <p className="text-sm text-muted">{t("auditCheck.running", { n: rows })}</p>}
        {error !== null && <ErrorNotice error={error} onRetry={run} />}
        {result !== null && result.fault === null && (
          <Notice>
            <p>{t("auditCheck.intact", { n: rows })}</p>
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
          <Notice variant="bad">
            <p className="font-medium">{t(ERRORS[result.fault.kind])}</p>
            <p>{t("auditCheck.place", { day: result.fault.day, number: number(result.fault.number) })}</p>
            <p className="text-xs text-muted">{result.fault.detail}</p>
          </Notice>
        )}
      </div>
    </div>
  );
}

const CHANNEL_NAMES: Readonly<Record<string, TextKey>> = {
  ...mapChannels<Record<ChannelId, TextKey>>((id) => `integration.${id}`),
  "tool-server": "integrations.tools",
};

/** Returns the name of an actor; never an ID. */
function describeActor({ actor, actorName }: AuditItem, t: Texts["t"]): string {
  if (actorName !== null) return actor.startsWith("key:") ? t("audit.key", { name: actorName }) : actorName;
  if (actor.startsWith("operator:")) return t("people.someone");
  return actor.startsWith("key:") ? t("audit.deletedKey") : textOf(t, "audit.actor", actor);
}

/**
 * Returns what the actor did or, if it failed, tried to do: the rest of a sentence that starts with the actor's name.
 */
function describeAction({ action, result }: AuditItem, t: Texts["t"]): string {
  const attempt = textOf(t, "audit.do", action, "");
  if (attempt === "") return action;
  return result === "ok" ? textOf(t, "audit.did", action) : t("audit.tried", { what: attempt });
}

/** Returns the name of the object; null if it has none or is the actor itself. */
function describeObject({ action, actor, object, objectName }: AuditItem, t: Texts["t"]): string | null {
  if (object === null || actor.endsWith(`:${object}`)) return null;
  if (objectName !== null) return objectName;
  if (action === "http.denied") return object;
  if (object.startsWith("model:")) return object.split(":").slice(2).join(":");
  const channel = Object.hasOwn(CHANNEL_NAMES, object) ? CHANNEL_NAMES[object] : undefined;
  return channel === undefined ? null : t(channel);
}

const NOTHING: AuditFilter = { actor: "", action: "", object: "", result: "", project: "", from: "", to: "" };

/** A part of the filter, with the name of an actor or object that was chosen in a row. */
type Picked = Partial<AuditFilter> & { name?: string };

/** The details with a copy button, for searches elsewhere. */
const COPIED: readonly string[] = ["actorId", "objectId", "requestId"];

/** The codes and IDs of a row, and its ticket. */
function AuditDetails({ item }: { item: AuditItem }) {
  const { t } = useTexts();
  const { projects } = useSession();
  const { action, actor, network, object, project, requestId, result } = item;
  const hasTicket = action.startsWith("tickets.") && object !== null && projects.some(({ name }) => name === project);
  const details = { action, result, actorId: actor, objectId: object, network, requestId } as const;
  return (
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
          {(Object.keys(details) as (keyof typeof details)[]).map(
            (name) =>
              details[name] !== null && (
                <Fragment key={name}>
                  <dt>{t(`audit.${name}`)}</dt>
                  <dd className="font-mono wrap-anywhere">
                    {details[name]}
                    {COPIED.includes(name) && <CopyId label={t(`audit.${name}`)} text={details[name]} />}
                  </dd>
                </Fragment>
              ),
          )}
        </dl>
      </details>
    </div>
  );
}

const PART = "max-w-full truncate rounded-sm text-left hover:text-ink hover:underline";

function AuditRow({ item, onPick }: { item: AuditItem; onPick: (picked: Picked) => void }) {
  const { dateTime, t } = useTexts();
  const { action, actor, at, count, object, result } = item;
  const who = describeActor(item, t);
  const what = describeObject(item, t);
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
              <Badge tone="bad">{textOf(t, "audit.result", result)}</Badge>
            </button>
          )}
          {count > 1 && <span className="text-xs text-muted">{t("audit.count", { n: count })}</span>}
        </p>
        <AuditDetails item={item} />
      </div>
    </div>
  );
}

interface Option {
  value: string;
  label: string;
}

const capitalize = (text: string) => text.charAt(0).toLocaleUpperCase() + text.slice(1);

/** Returns the filters with fixed choices, each with its options. */
function useAuditChoices(filter: AuditFilter, names: Readonly<Record<string, string>>) {
  const { names: namesOf, t } = useTexts();
  const { projects } = useSession();
  const { people } = usePeople();
  const isAdministrator = useRights()("admin:*");
  const optionsOf = (prefix: string): Option[] =>
    namesOf(prefix).map((value) => ({ value, label: textOf(t, prefix, value) }));
  const actors = people.map(({ actor, name }) => ({ value: actor, label: name }));
  const actions = optionsOf("audit.do").map(({ value, label }) => ({ value, label: capitalize(label) }));
  const choices: { name: keyof AuditFilter; label: string; options: Option[] }[] = [
    { name: "actor", label: t("audit.actor"), options: [...actors, ...optionsOf("audit.actor")] },
    { name: "action", label: t("audit.action"), options: actions.toSorted((a, b) => a.label.localeCompare(b.label)) },
    { name: "result", label: t("audit.result"), options: optionsOf("audit.result") },
    { name: "project", label: t("project.label"), options: projects.map(({ name }) => ({ value: name, label: name })) },
    { name: "object", label: t("audit.object"), options: [] },
  ];
  return choices
    .filter(({ name }) => (name === "project" ? isAdministrator : name !== "object" || filter.object !== ""))
    .map(({ options, ...choice }) => {
      const value = filter[choice.name];
      const isKnown = value === "" || options.some((other) => other.value === value);
      const chosen = isKnown ? [] : [{ value, label: names[value] ?? value }];
      return { ...choice, options: [{ value: "", label: t("audit.any") }, ...options, ...chosen] };
    });
}

/** The fields that filter the audit log. */
function AuditFilterBar({
  filter,
  names,
  onChange,
  clearButton,
}: {
  filter: AuditFilter;
  names: Readonly<Record<string, string>>;
  onChange: (part: Partial<AuditFilter>) => void;
  clearButton: ReactNode;
}) {
  const { t } = useTexts();
  return (
    <div className="mb-4 grid grid-cols-2 items-end gap-3 rounded-xl border border-line bg-surface p-3 sm:grid-cols-4">
      {useAuditChoices(filter, names).map(({ label, name, options }) => (
        <SelectField
          key={name}
          label={label}
          value={filter[name]}
          options={options}
          onChange={(value) => onChange({ [name]: value })}
        />
      ))}
      {(["from", "to"] as const).map((name) => (
        <Field
          key={name}
          label={t(`audit.${name}`)}
          type="date"
          value={filter[name]}
          onChange={(value) => onChange({ [name]: value })}
        />
      ))}
      {clearButton}
    </div>
  );
}

/** The audit log: operations and denials. */
export function AuditSection() {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const isAdministrator = useRights()("admin:*");
  const [filter, setFilter] = useState(NOTHING);
  /** Names of actors and objects that were chosen in a row, by their IDs. */
  const [names, setNames] = useState<Readonly<Record<string, string>>>({});
  // Both days are included, in the reader's time zone.
  const from = startOf(filter.from)?.toISOString() ?? "";
  const to = startOf(filter.to, 1)?.toISOString() ?? "";
  const events = useInfiniteQuery(auditPagesQuery(connection, project, { ...filter, from, to }));
  const isFiltered = Object.values(filter).some((value) => value !== "");
  const clear = () => setFilter(NOTHING);

  const change = (part: Partial<AuditFilter>) => setFilter((known) => ({ ...known, ...part }));
  function pick({ name, ...part }: Picked) {
    change(part);
    const value = part.actor ?? part.object;
    if (value !== undefined && name !== undefined) setNames((known) => ({ ...known, [value]: name }));
  }

  const clearButton = isFiltered && (
    <Button variant="quiet" onClick={clear} className="justify-self-start">
      {t("audit.clear")}
    </Button>
  );
  return (
    <>
      <p className="mb-3 max-w-2xl text-sm text-muted">
        {t(isAdministrator ? "audit.text" : "audit.textOfProject", { project })}
      </p>
      {isAdministrator && <AuditCheck />}
      <ResourcePage
        query={events}
        label={t("administration.audit")}
        filter={<AuditFilterBar filter={filter} names={names} onChange={change} clearButton={clearButton} />}
        icon={ScrollText}
        empty={{
          title: t(isFiltered ? "audit.noMatch" : "audit.none"),
          text: t(isFiltered ? "audit.noMatchText" : "audit.noneText"),
          action: isFiltered && <Button onClick={clear}>{t("audit.clear")}</Button>,
        }}
      >
        {(item) => <AuditRow item={item} onPick={pick} />}
      </ResourcePage>
    </>
  );
}
