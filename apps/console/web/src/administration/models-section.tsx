import type { Model, ModelPullProgress, Stats, UnreachableProvider } from "@svc/contracts";
import { Download, Square, CircleCheck, CircleX, Cpu, TriangleAlert } from "lucide-react";
import { useState, useDeferredValue, useEffect } from "react";
import type { SubmitEvent } from "react";
import { useQuery, useInfiniteQuery } from "@tanstack/react-query";
import { agentsQuery } from "../api/administration.ts";
import { useTexts } from "../i18n/texts.ts";
import type { Texts } from "../i18n/texts.ts";
import { formatBytes } from "../ui/files.ts";
import { ResourcePage, itemsOf } from "../lists/resource-page.tsx";
import { useServices, useProject, useRights } from "../session/services.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { ErrorNotice, Notice, QueryView } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import { ModelServer } from "./model-server.tsx";
import { describeServerError, failingModelsQuery, modelPagesQuery, usePulls } from "./models.ts";
import type { RecentCalls } from "./models.ts";

/** Progress of a pull. Before the size is known it only shows the current step. */
function PullBar({ model, progress }: { model: string; progress: ModelPullProgress | null }) {
  const texts = useTexts();
  const { percent, t } = texts;
  const total = progress?.totalBytes ?? null;
  const done = progress?.completedBytes ?? 0;
  const share = total === null || total === 0 ? null : Math.min(1, done / total);
  return (
    <div className="mt-1.5 max-w-md">
      <progress
        aria-label={t("models.progressOf", { model })}
        {...(share === null ? {} : { value: share })}
        max={1}
        className="block h-1.5 w-full accent-accent"
      />
      <p className="mt-0.5 text-xs text-muted tabular-nums">
        {share === null || total === null
          ? t("models.beginning")
          : t("models.progress", {
              share: percent(share),
              done: formatBytes(done, texts),
              total: formatBytes(total, texts),
            })}
        {progress !== null && <span className="ml-1.5 text-faint">{progress.status}</span>}
      </p>
    </div>
  );
}

const countsOf = ({ calls, errors }: Pick<RecentCalls, "calls" | "errors">, { number }: Texts) => ({
  n: calls,
  failed: number(errors),
});

/** The shown fields of a model; for one that is in no list yet, only its id is known. */
type ShownModel = Pick<Model, "catalogId"> & Partial<Model>;

/** A model with its properties, its users, and its pull. */
function ModelRow({
  model: { catalogId, contextWindow = null, installed, local, provider, sizeBytes = null },
  users,
  failing,
  pulling,
  error,
  mayWrite,
  onPull,
  onCancel,
}: {
  model: ShownModel;
  /** Names of the agents that use it. */
  users: readonly string[];
  /** Its recent calls if many of them failed. */
  failing: RecentCalls | undefined;
  /** Progress of its pull; null if there is none, "begun" before any progress is known. */
  pulling: ModelPullProgress | "begun" | null;
  error: unknown;
  mayWrite: boolean;
  onPull: () => void;
  onCancel: () => void;
}) {
  const texts = useTexts();
  const { number, t } = texts;
  const facts = [
    ...(sizeBytes === null ? [] : [formatBytes(sizeBytes, texts)]),
    ...(contextWindow === null ? [] : [t("models.context", { count: number(contextWindow) })]),
    ...(users.length === 0 ? [] : [t("models.usedBy", { names: users.join(", ") })]),
  ];
  return (
    <div className="flex flex-wrap items-start gap-x-3 gap-y-2">
      <div className="min-w-0 flex-1 basis-56">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <code className="font-mono text-sm font-medium wrap-anywhere">{catalogId}</code>
          {installed === true && failing === undefined && <Badge tone="ok">{t("models.usable")}</Badge>}
          {failing !== undefined && (
            <Badge tone="warn">{t(`models.failing.${failing.period}`, countsOf(failing, texts))}</Badge>
          )}
          {provider !== undefined && <Badge>{t(local === true ? "models.local" : "models.away")}</Badge>}
        </p>
        {facts.length > 0 && <p className="text-xs wrap-anywhere text-muted">{facts.join(" · ")}</p>}
        {pulling !== null && <PullBar model={catalogId} progress={pulling === "begun" ? null : pulling} />}
        {error !== null && (
          <div className="mt-2">
            <ErrorNotice error={error} {...(mayWrite ? { onRetry: onPull } : {})} />
          </div>
        )}
      </div>
      {mayWrite && pulling !== null && (
        <Button icon={Square} size="small" aria-label={t("models.cancelOf", { model: catalogId })} onClick={onCancel}>
          {t("models.cancel")}
        </Button>
      )}
      {mayWrite && pulling === null && error === null && installed === false && (
        <Button icon={Download} size="small" aria-label={t("models.pullOf", { model: catalogId })} onClick={onPull}>
          {t("models.pull")}
        </Button>
      )}
    </div>
  );
}

const OLLAMA = "ollama:";

/** Pulls a model that is not in the list, by its name in Ollama's library. */
function PullForm({ onPull }: { onPull: (catalogId: string) => void }) {
  const { t } = useTexts();
  const [name, setName] = useState("");
  const typed = name.trim();
  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (typed === "") return;
    onPull(typed.startsWith(OLLAMA) ? typed : OLLAMA + typed);
    setName("");
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      <Field
        label={t("models.name")}
        hint={t("models.nameHint")}
        placeholder="qwen3:8b"
        value={name}
        maxLength={300}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="none"
        onChange={setName}
      />
      <Button type="submit" className="self-start" disabled={typed === ""}>
        {t("models.pull")}
      </Button>
    </form>
  );
}

/** Which model servers are available, and the errors of the others. */
function Servers({
  models,
  unreachable,
  failing,
}: {
  models: readonly Model[];
  unreachable: readonly UnreachableProvider[];
  failing: readonly RecentCalls[];
}) {
  const { t } = useTexts();
  const isFailing = (provider: string) => failing.some(({ model }) => model.startsWith(`${provider}:`));
  const answering = [...new Set(models.filter(({ installed }) => installed).map(({ provider }) => provider))].filter(
    (provider) => unreachable.every((other) => other.provider !== provider),
  );
  return (
    <Section title={t("models.servers")}>
      {answering.length + unreachable.length === 0 && <Notice>{t("models.noServer")}</Notice>}
      <ul className="flex flex-col gap-2 text-sm">
        {answering.map((provider) => (
          <li key={provider} className="flex items-start gap-2">
            {isFailing(provider) ? (
              <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
            ) : (
              <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-ok" />
            )}
            <span>
              <code className="font-mono text-xs font-semibold">{provider}</code>{" "}
              {t(isFailing(provider) ? "models.answersFailing" : "models.answers")}
            </span>
          </li>
        ))}
        {unreachable.map((server) => (
          <li key={server.provider} className="flex items-start gap-2">
            <CircleX aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
            <span className="min-w-0 wrap-anywhere">
              <code className="font-mono text-xs font-semibold">{server.provider}</code>{" "}
              {describeServerError(server, t)}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const CELL = "px-2 py-1.5 text-right tabular-nums";
const STALE_MS = 60_000;

/** A table of usage, one row for each model. */
function UsageRows({ rows }: { rows: Stats["models"] }) {
  const { language, number, t } = useTexts();
  const money = new Intl.NumberFormat(language, { style: "currency", currency: "USD", maximumFractionDigits: 4 });
  const heads = ["models.calls", "models.faults", "models.input", "models.output", "models.cost"] as const;
  return (
    <div role="region" aria-label={t("models.usage")} tabIndex={0} className="overflow-x-auto">
      <table className="w-full text-sm">
        <thead className="text-xs text-muted">
          <tr>
            <th scope="col" className="py-1.5 pr-2 text-left font-medium">
              {t("models.model")}
            </th>
            {heads.map((title) => (
              <th key={title} scope="col" className={`${CELL} font-medium`}>
                {t(title)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map(({ calls, costUsd, faults: errors, inputTokens, model, outputTokens }) => (
            <tr key={model}>
              <th scope="row" className="py-1.5 pr-2 text-left font-mono text-xs font-medium">
                {model}
              </th>
              {[calls, errors, inputTokens, outputTokens].map((count, column) => (
                <td key={heads[column]} className={CELL}>
                  {number(count)}
                </td>
              ))}
              <td className={CELL} title={costUsd === null ? t("models.noPrice") : undefined}>
                {costUsd === null ? "–" : money.format(costUsd)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.some(({ costUsd }) => costUsd === null) && <p className="mt-1 text-xs text-muted">{t("models.noPrice")}</p>}
    </div>
  );
}

/** The usage of language models by the project's agents in the last 30 days, and its cost. */
function UsageTable() {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const usage = useQuery({
    queryKey: ["model-usage", project],
    staleTime: STALE_MS,
    queryFn: async ({ signal }) => (await connection.call("getStats", project, { query: {}, signal })).models,
  });
  return (
    <Section title={t("models.usage")} text={t("models.usageText", { project })}>
      <QueryView query={usage} skeleton="h-16 w-full rounded-lg">
        {(rows) =>
          rows.length === 0 ? <p className="text-sm text-muted">{t("models.noUsage")}</p> : <UsageRows rows={rows} />
        }
      </QueryView>
    </Section>
  );
}

/** The models of the servers, and a function that returns the row of one with its pull. */
function useModelRows() {
  const { connection } = useServices();
  const project = useProject();
  const mayDo = useRights();
  const mayWrite = mayDo("models:write");
  const all = useInfiniteQuery(modelPagesQuery(connection, project, ""));
  const agents = useQuery({ ...agentsQuery(connection, project), enabled: mayDo("agents:read") });
  const failing = useQuery({ ...failingModelsQuery(connection, project), enabled: mayDo("tickets:read") }).data ?? [];
  const { cancel, pull, pulls } = usePulls();
  const known = itemsOf(all);

  // A pull started by another operator is followed as well, so that its end is shown here too.
  const begun = mayWrite ? known.filter((model) => model.pull !== null).map(({ catalogId }) => catalogId) : [];
  const begunIds = begun.join("\n");
  useEffect(() => {
    for (const id of begun) if (pulls[id] === undefined) pull(id);
    // Only when further pulls are started: one that is followed already ends by itself.
  }, [begunIds]);

  function rowOf(model: ShownModel) {
    const { catalogId } = model;
    const followed = pulls[catalogId];
    const isOn = followed !== undefined && followed.error === null;
    return (
      <ModelRow
        model={model}
        users={(agents.data ?? []).filter((agent) => agent.model === catalogId).map(({ name }) => name)}
        failing={failing.find(({ model: other }) => other === catalogId)}
        pulling={isOn ? (followed.progress ?? model.pull ?? "begun") : (model.pull ?? null)}
        error={followed?.error ?? null}
        mayWrite={mayWrite}
        onPull={() => pull(catalogId)}
        onCancel={() => cancel(catalogId)}
      />
    );
  }
  const unlisted = Object.keys(pulls).filter((id) => known.every(({ catalogId }) => catalogId !== id));
  return { known, failing, unreachable: all.data?.pages[0]?.unreachable, unlisted, rowOf, pull };
}

/** Language models: the servers, the installed and installable models, and their usage. */
export function ModelsSection() {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const mayDo = useRights();
  const [typed, setTyped] = useState("");
  const q = useDeferredValue(typed.trim());
  const models = useInfiniteQuery(modelPagesQuery(connection, project, q));
  const { failing, known, pull, rowOf, unlisted, unreachable } = useModelRows();
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="flex min-w-0 flex-col gap-4">
        <p className="max-w-2xl text-sm text-muted">{t("models.text")}</p>
        {unlisted.length > 0 && (
          <ul aria-label={t("models.pulls")} className="divide-y divide-line rounded-xl border border-line bg-surface">
            {unlisted.map((catalogId) => (
              <li key={catalogId} className="px-3 py-2.5">
                {rowOf({ catalogId, installed: false })}
              </li>
            ))}
          </ul>
        )}
        <Field
          label={t("models.find")}
          type="search"
          value={typed}
          maxLength={200}
          spellCheck={false}
          onChange={setTyped}
        />
        <ResourcePage
          query={models}
          label={t("administration.models")}
          icon={Cpu}
          empty={{
            title: t(q === "" ? "models.none" : "models.noMatch"),
            text: t(q === "" ? "models.noneText" : "models.noMatchText"),
          }}
        >
          {rowOf}
        </ResourcePage>
        {mayDo("tickets:read") && <UsageTable />}
      </div>
      <div className={`flex min-w-0 flex-col gap-4 ${known.length === 0 ? "max-lg:-order-1" : ""}`}>
        {mayDo("admin:*") && <ModelServer />}
        {unreachable !== undefined && <Servers models={known} unreachable={unreachable} failing={failing} />}
        <Section title={t("models.default")}>
          <p className="text-sm text-muted">{t("models.defaultText")}</p>
        </Section>
        {mayDo("models:write") && (
          <Section title={t("models.pullOther")}>
            <PullForm onPull={pull} />
          </Section>
        )}
      </div>
    </div>
  );
}
