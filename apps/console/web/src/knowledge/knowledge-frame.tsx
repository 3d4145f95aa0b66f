import { useState } from "react";
import type { ReactNode } from "react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Page } from "../api/connection.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject, useRights } from "../session/services.ts";
import { Field } from "../ui/field.tsx";
import { PageFrame } from "../ui/page-frame.tsx";

/** A progress bar with its label. */
export function ReadingBar({ done, all, label }: { done: number; all: number; label: string }) {
  const percent = all === 0 ? 0 : Math.round((Math.min(done, all) / all) * 100);
  return (
    <div className="flex min-w-0 flex-1 items-center gap-2.5">
      <div
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        className="h-1.5 min-w-16 flex-1 overflow-hidden rounded-full bg-line"
      >
        <div className="h-full rounded-full bg-accent transition-[width]" style={{ width: `${percent}%` }} />
      </div>
      <span className="shrink-0 text-xs text-muted tabular-nums">{label}</span>
    </div>
  );
}

/** Asks for the name of a knowledge base. */
export function NameDialog({
  title,
  action,
  first = "",
  save,
  onClose,
}: {
  title: string;
  action: string;
  first?: string;
  save: (name: string) => Promise<void>;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const [name, setName] = useState(first);
  const { error, run } = useAction();

  async function submit() {
    if (await run(() => save(name.trim()))) onClose();
  }

  return (
    <FormDialog title={title} width="small" action={action} onSubmit={submit} onClose={onClose}>
      <Field
        label={t("knowledge.name")}
        hint={t("knowledge.nameHint")}
        error={error}
        value={name}
        maxLength={200}
        required
        onChange={setName}
      />
    </FormDialog>
  );
}

const TAB =
  "-mb-px inline-flex shrink-0 items-center gap-1.5 border-b-2 border-transparent px-2.5 py-1.5 text-sm font-medium text-muted hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink";

const POLL_MS = 30_000;
const COUNT_LIMIT = 99;

/** Polls the number of open gaps and proposals: the first page of each list. */
function useOpenCounts() {
  const { connection } = useServices();
  const project = useProject();
  const query = { status: "open", limit: COUNT_LIMIT } as const;
  const gaps = useQuery({
    queryKey: ["gaps", project, "open-count"],
    enabled: useRights()("tickets:read"),
    refetchInterval: POLL_MS,
    queryFn: async ({ signal }) => countOf(await connection.call("listGaps", project, { query, signal })),
  });
  const proposals = useQuery({
    queryKey: ["proposals", project, "open-count"],
    refetchInterval: POLL_MS,
    queryFn: async ({ signal }) => countOf(await connection.call("listProposals", project, { query, signal })),
  });
  return { gaps: gaps.data, proposals: proposals.data };
}

/** Returns the number of items of a page, and whether there are more. */
const countOf = ({ items, nextCursor }: Page<unknown>) => ({ count: items.length, isMore: nextCursor !== null });

function Count({ value }: { value: { count: number; isMore: boolean } | undefined }) {
  const { number } = useTexts();
  if (value === undefined || value.count === 0) return null;
  return (
    <span className="rounded-full bg-sunken px-1.5 text-2xs font-semibold text-muted">
      {number(value.count)}
      {value.isMore && "+"}
    </span>
  );
}

/** Layout of the pages about knowledge: one tab each for knowledge bases, articles, gaps and proposals. */
export function KnowledgeFrame({ actions, children }: { actions?: ReactNode; children: ReactNode }) {
  const { t } = useTexts();
  const project = useProject();
  const mayDo = useRights();
  const counts = useOpenCounts();
  return (
    <PageFrame title={t("nav.knowledge")} text={t("knowledge.text")} actions={actions}>
      <nav aria-label={t("nav.knowledge")} className="mb-4 flex gap-1 overflow-x-auto border-b border-line">
        <Link to="/$project/knowledge" params={{ project }} activeOptions={{ exact: true }} className={TAB}>
          {t("knowledge.bases")}
        </Link>
        <Link to="/$project/knowledge/articles" params={{ project }} className={TAB}>
          {t("knowledge.articles")}
        </Link>
        {mayDo("tickets:read") && (
          <Link to="/$project/knowledge/gaps" params={{ project }} className={TAB}>
            {t("knowledge.gaps")}
            <Count value={counts.gaps} />
          </Link>
        )}
        <Link to="/$project/knowledge/proposals" params={{ project }} className={TAB}>
          {t("knowledge.proposals")}
          <Count value={counts.proposals} />
        </Link>
      </nav>
      {children}
    </PageFrame>
  );
}
