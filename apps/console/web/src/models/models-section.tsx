import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Cpu } from "lucide-react";
import { useDeferredValue, useEffect, useState } from "react";
import { PagedList } from "../administration/paged-list.tsx";
import { agentsQuery } from "../api/agents.ts";
import { modelPagesQuery } from "../api/models.ts";
import { useServices } from "../app/services.ts";
import { useProject, useRights } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { EmptyState } from "../ui/empty-state.tsx";
import { Field } from "../ui/field.tsx";
import { Section } from "../ui/page-frame.tsx";
import { ModelRow } from "./model-row.tsx";
import type { ShownModel } from "./model-row.tsx";
import { PullForm } from "./pull-form.tsx";
import { Servers } from "./servers.tsx";
import { UsageTable } from "./usage-table.tsx";
import { usePulls } from "./use-pulls.ts";

/** Language models: the servers, what they have and what can be installed, and what was asked of them. */
export function ModelsSection() {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const mayDo = useRights();
  const mayWrite = mayDo("models:write");
  const [typed, setTyped] = useState("");
  const q = useDeferredValue(typed.trim());
  const models = useInfiniteQuery(modelPagesQuery(connection, project, q));
  const all = useInfiniteQuery(modelPagesQuery(connection, project, ""));
  const agents = useQuery({ ...agentsQuery(connection, project), enabled: mayDo("agents:read") });
  const { cancel, pull, pulls } = usePulls();
  const known = all.data?.pages.flatMap(({ items }) => items) ?? [];
  const usersOf = (id: string) => (agents.data ?? []).filter(({ model }) => model === id).map(({ name }) => name);

  // What somebody else has begun is followed as well, so that its end is told here, too.
  const begun = mayWrite ? known.filter((model) => model.pull !== null).map(({ catalogId }) => catalogId) : [];
  const begunIds = begun.join("\n");
  useEffect(() => {
    for (const id of begun) if (pulls[id] === undefined) pull(id);
    // Only when others are begun: what is followed already has its own way to end.
  }, [begunIds]);

  function rowOf(model: ShownModel) {
    const { catalogId } = model;
    const followed = pulls[catalogId];
    const isOn = followed !== undefined && followed.fault === null;
    return (
      <ModelRow
        model={model}
        users={usersOf(catalogId)}
        pulling={isOn ? (followed.progress ?? model.pull ?? "begun") : (model.pull ?? null)}
        fault={followed?.fault ?? null}
        mayWrite={mayWrite}
        onPull={() => pull(catalogId)}
        onCancel={() => cancel(catalogId)}
      />
    );
  }

  const unlisted = Object.keys(pulls).filter((id) => known.every(({ catalogId }) => catalogId !== id));
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
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <PagedList
          query={models}
          label={t("administration.models")}
          empty={
            <EmptyState
              icon={Cpu}
              title={t(q === "" ? "models.none" : "models.noMatch")}
              text={t(q === "" ? "models.noneText" : "models.noMatchText")}
            />
          }
        >
          {rowOf}
        </PagedList>
        {mayDo("tickets:read") && <UsageTable />}
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        {all.isSuccess && <Servers models={known} unreachable={all.data.pages[0]?.unreachable ?? []} />}
        <Section title={t("models.default")}>
          <p className="text-sm text-muted">{t("models.defaultText")}</p>
        </Section>
        {mayWrite && (
          <Section title={t("models.pullOther")}>
            <PullForm onPull={pull} />
          </Section>
        )}
      </div>
    </div>
  );
}
