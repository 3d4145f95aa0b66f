import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ReactNode } from "react";
import { CHANNEL_IDS } from "@svc/contracts";
import { agentsQuery } from "../api/administration.ts";
import { useTexts } from "../i18n/texts.ts";
import { useProject, useRights, useServices } from "../session/services.ts";
import { Field, SelectField } from "../ui/field.tsx";
import { DEFAULT_SPAN, errorOfDates, nameDay, readOverviewSearch, SPANS } from "./overview-search.ts";
import type { OverviewSearch } from "./overview-search.ts";

/** A number with its name and a line of text. */
export function Tile({ label, value, text }: { label: string; value: string; text: ReactNode }) {
  return (
    <div className="rounded-xl border border-line bg-surface px-4 py-3.5">
      <dt className="text-sm text-muted">{label}</dt>
      <dd>
        <span className="block text-2xl font-semibold tracking-tight tabular-nums">{value}</span>
        <span className="block min-h-4 text-xs text-muted">{text}</span>
      </dd>
    </div>
  );
}

const DATES = "dates";
const ALL = "";
const DAY_MS = 86_400_000;

/** The first and the last day; they apply as soon as both are valid. */
function Dates({ from, to, onChange }: { from: string; to: string; onChange: (from: string, to: string) => void }) {
  const { t } = useTexts();
  const [first, setFirst] = useState(from);
  const [last, setLast] = useState(to);
  const error = errorOfDates(first, last);
  const today = nameDay(new Date());
  function change(nextFirst: string, nextLast: string) {
    setFirst(nextFirst);
    setLast(nextLast);
    if (errorOfDates(nextFirst, nextLast) === null) onChange(nextFirst, nextLast);
  }
  return (
    <>
      <Field
        label={t("overview.from")}
        type="date"
        max={today}
        value={first}
        error={error === null ? undefined : t(`overview.dates.${error}`)}
        className="w-36"
        onChange={(value) => change(value, last)}
      />
      <Field
        label={t("overview.to")}
        type="date"
        max={today}
        value={last}
        className="w-36"
        onChange={(value) => change(first, value)}
      />
    </>
  );
}

/** Filters of the page: the period, and a channel or an agent. All of them are in the page's URL. */
export function SpanBar({ search }: { search: OverviewSearch }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const mayDo = useRights();
  const navigate = useNavigate();
  const agents = useQuery({ ...agentsQuery(connection, project), enabled: mayDo("agents:read") });
  const { agent, channel, days = DEFAULT_SPAN, from, to } = search;
  const hasDates = from !== undefined && to !== undefined;
  const show = (change: Record<string, unknown>) =>
    void navigate({ to: ".", search: readOverviewSearch({ ...search, ...change }), replace: true });
  function chooseSpan(value: string) {
    if (value !== DATES) {
      show({ days: Number(value), from: undefined, to: undefined });
      return;
    }
    const now = Date.now();
    show({ days: undefined, from: nameDay(new Date(now - days * DAY_MS)), to: nameDay(new Date(now)) });
  }
  return (
    <div className="mb-4 flex flex-wrap items-start gap-3">
      <SelectField
        label={t("overview.span")}
        value={hasDates ? DATES : String(days)}
        onChange={chooseSpan}
        options={[
          ...SPANS.map((span) => ({ value: String(span), label: t("overview.days", { n: span }) })),
          { value: DATES, label: t("overview.dates") },
        ]}
        className="w-40"
      />
      {hasDates && <Dates from={from} to={to} onChange={(first, last) => show({ from: first, to: last })} />}
      <SelectField
        label={t("overview.channel")}
        value={channel ?? ALL}
        onChange={(value) => show({ channel: value })}
        options={[
          { value: ALL, label: t("overview.all") },
          ...CHANNEL_IDS.map((id) => ({ value: id, label: t(`channel.${id}`) })),
        ]}
        className="w-40"
      />
      {agents.data !== undefined && agents.data.length > 1 && (
        <SelectField
          label={t("overview.agent")}
          value={agent ?? ALL}
          onChange={(value) => show({ agent: value })}
          options={[
            { value: ALL, label: t("overview.all") },
            ...agents.data.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          className="w-40"
        />
      )}
    </div>
  );
}
