import { useInfiniteQuery } from "@tanstack/react-query";
import { ScrollText } from "lucide-react";
import { useState } from "react";
import type { SubmitEvent } from "react";
import type { AuditItem } from "@svc/contracts";
import { auditPagesQuery } from "../api/administration.ts";
import type { AuditFilter } from "../api/administration.ts";
import { useServices } from "../app/services.ts";
import { usePeople } from "../app/use-names.ts";
import { useProject, useRights, useSession } from "../app/use-session.ts";
import type { TextKey } from "../i18n/text-table.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { AuditCheck } from "./audit-check.tsx";
import { PagedList } from "./paged-list.tsx";

const NOTHING: AuditFilter = { actor: "", action: "", object: "", result: "", project: "", from: "", to: "" };

/** What is typed in, with an example of it. */
const FIELDS = [
  { name: "actor", label: "audit.actor", example: "operator:…" },
  { name: "action", label: "audit.action", example: "keys.create" },
  { name: "object", label: "audit.object", example: "widget" },
  { name: "result", label: "audit.result", example: "ok" },
] as const satisfies readonly { name: keyof AuditFilter; label: TextKey; example: string }[];

const DAYS = [
  { name: "from", label: "audit.from" },
  { name: "to", label: "audit.to" },
] as const satisfies readonly { name: keyof AuditFilter; label: TextKey }[];

const PART = "max-w-full truncate rounded-sm text-left hover:text-ink hover:underline";

function AuditRow({ item, onPick }: { item: AuditItem; onPick: (part: Partial<AuditFilter>) => void }) {
  const { dateTime, t } = useTexts();
  const { nameOf } = usePeople();
  const { action, actor, at, count, network, object, project, requestId, result } = item;
  const name = actor.startsWith("operator:") ? nameOf(actor) : actor;
  const facts = [
    ...(project === null ? [] : [project]),
    ...(network === null ? [] : [network]),
    ...(requestId === null ? [] : [t("audit.request", { id: requestId })]),
  ];
  return (
    <div className="flex flex-wrap items-start gap-x-3 gap-y-1 text-xs text-muted">
      <time dateTime={at} className="w-36 shrink-0 pt-0.5 tabular-nums">
        {dateTime(at)}
      </time>
      <div className="min-w-0 flex-1 basis-56">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <button type="button" className={`${PART} font-mono text-ink`} onClick={() => onPick({ action })}>
            {action}
          </button>
          <button type="button" onClick={() => onPick({ result })} className="rounded">
            <Badge tone={result === "ok" ? "ok" : "bad"}>{result}</Badge>
          </button>
          {count > 1 && <span>{t("audit.count", { n: count })}</span>}
        </p>
        <p className="flex flex-wrap gap-x-2">
          <button type="button" title={actor} className={PART} onClick={() => onPick({ actor })}>
            {name}
          </button>
          {object !== null && (
            <button type="button" className={`${PART} font-mono`} onClick={() => onPick({ object })}>
              {object}
            </button>
          )}
        </p>
        {facts.length > 0 && <p className="wrap-anywhere">{facts.join(" · ")}</p>}
      </div>
    </div>
  );
}

/** What was done and what was refused. */
export function AuditSection() {
  const { t } = useTexts();
  const { connection } = useServices();
  const current = useProject();
  const { projects } = useSession();
  const isAdministrator = useRights()("admin:*");
  const [typed, setTyped] = useState(NOTHING);
  const [filter, setFilter] = useState(NOTHING);
  const events = useInfiniteQuery(auditPagesQuery(connection, current, filter));
  const isFiltered = Object.values(filter).some((value) => value !== "");

  const set = (name: keyof AuditFilter, value: string) => setTyped((known) => ({ ...known, [name]: value }));
  const apply = (next: AuditFilter) => {
    setTyped(next);
    setFilter(next);
  };
  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    apply({
      ...typed,
      actor: typed.actor.trim(),
      action: typed.action.trim(),
      object: typed.object.trim(),
      result: typed.result.trim(),
    });
  }

  return (
    <>
      <p className="mb-3 max-w-2xl text-sm text-muted">
        {t(isAdministrator ? "audit.text" : "audit.textOfProject", { project: current })}
      </p>
      {isAdministrator && <AuditCheck />}
      <form
        onSubmit={submit}
        className="mb-4 grid grid-cols-2 items-end gap-3 rounded-xl border border-line bg-surface p-3 sm:grid-cols-4"
      >
        {FIELDS.map(({ example, label, name }) => (
          <Field
            key={name}
            label={t(label)}
            placeholder={example}
            maxLength={200}
            spellCheck={false}
            autoComplete="off"
            value={typed[name]}
            onChange={({ currentTarget }) => set(name, currentTarget.value)}
          />
        ))}
        {isAdministrator && (
          <SelectField
            label={t("project.label")}
            value={typed.project}
            options={[
              { value: "", label: t("audit.anyProject") },
              ...projects.map(({ name }) => ({ value: name, label: name })),
            ]}
            onChange={({ currentTarget }) => set("project", currentTarget.value)}
          />
        )}
        {DAYS.map(({ label, name }) => (
          <Field
            key={name}
            label={t(label)}
            type="date"
            value={typed[name]}
            onChange={({ currentTarget }) => set(name, currentTarget.value)}
          />
        ))}
        <div className="flex gap-2">
          <Button type="submit" look="primary">
            {t("audit.filter")}
          </Button>
          {isFiltered && (
            <Button look="quiet" onClick={() => apply(NOTHING)}>
              {t("audit.clear")}
            </Button>
          )}
        </div>
      </form>
      <PagedList
        query={events}
        label={t("administration.audit")}
        empty={
          <EmptyState
            icon={ScrollText}
            title={t(isFiltered ? "audit.noMatch" : "audit.none")}
            text={t(isFiltered ? "audit.noMatchText" : "audit.noneText")}
          >
            {isFiltered && <Button onClick={() => apply(NOTHING)}>{t("audit.clear")}</Button>}
          </EmptyState>
        }
      >
        {(item) => <AuditRow item={item} onPick={(part) => apply({ ...filter, ...part })} />}
      </PagedList>
    </>
  );
}
