import { useQuery } from "@tanstack/react-query";
import type { UseQueryResult } from "@tanstack/react-query";
import { linkOptions, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Bot, Ellipsis, Pencil, Search, SearchX, Trash2 } from "lucide-react";
import { Tabs } from "radix-ui";
import { useState } from "react";
import type { SubmitEvent } from "react";
import type { Agent, KbHit, KbItem } from "@svc/contracts";
import { AnswerResult, AnswerSkeleton } from "../agents/try-agent.tsx";
import { agentsQuery } from "../api/administration.ts";
import { kbsQuery, searchQuery } from "../api/knowledge.ts";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { useProject, useRights, useServices } from "../session/services.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { TabList } from "../ui/choice-fields.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { CONTROL, formText, SelectField } from "../ui/field.tsx";
import { OutLink } from "../ui/markdown.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { EmptyState, ErrorNotice, Notice, Skeleton } from "../ui/notice.tsx";
import { MissingPage, PageFrame } from "../ui/page-frame.tsx";
import { DocumentsTab } from "./documents-tab.tsx";
import { NameDialog } from "./knowledge-frame.tsx";
import { markWords } from "./mark-words.ts";

const HITS = 8;

function Hit({ hit, place: position, best, query }: { hit: KbHit; place: number; best: number; query: string }) {
  const { t, number } = useTexts();
  const { headingPath, page, score, text, title, url } = hit;
  const share = best <= 0 ? 0 : Math.max(0, score / best);
  return (
    <li className="px-4 py-3">
      <div className="flex items-start gap-3">
        <span className="mt-px w-4 shrink-0 text-right text-xs text-faint tabular-nums">{position}</span>
        <div className="min-w-0 flex-1">
          <p className="truncate text-sm font-medium [&_a]:text-accent [&_a]:hover:underline" dir="auto">
            {url === undefined ? title : <OutLink href={url}>{title}</OutLink>}
          </p>
          {(headingPath.length > 0 || page !== undefined) && (
            <p className="truncate text-xs text-muted" dir="auto">
              {[...headingPath, ...(page === undefined ? [] : [t("search.page", { page })])].join(" › ")}
            </p>
          )}
        </div>
        <div className="flex shrink-0 items-center gap-2" title={t("search.score", { score: number(score) })}>
          <span aria-hidden className="h-1.5 w-14 overflow-hidden rounded-full bg-line">
            <span className="block h-full rounded-full bg-accent" style={{ width: `${share * 100}%` }} />
          </span>
          <span className="w-9 text-right text-xs text-muted tabular-nums">
            <span className="sr-only">{t("search.scoreWord")} </span>
            {number(score)}
          </span>
        </div>
      </div>
      <p className="mt-1.5 ml-7 line-clamp-6 text-sm wrap-anywhere whitespace-pre-line" dir="auto">
        {markWords(text, query).map((piece, index) =>
          piece.isMarked ? <mark key={index}>{piece.text}</mark> : <span key={index}>{piece.text}</span>,
        )}
      </p>
    </li>
  );
}

function Answer({ agent, query, turn }: { agent: Agent; query: string; turn: number }) {
  const { connection } = useServices();
  const project = useProject();
  const answer = useQuery({
    queryKey: ["kb-answer", project, agent.id, query, turn],
    retry: false,
    // Asking takes time and may cost money: only the button asks, and nothing asks again automatically.
    staleTime: "static",
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    queryFn: ({ signal }) =>
      connection.call("executeAgent", project, { params: { id: agent.id }, body: { input: query }, signal }),
  });
  if (answer.isPending) return <AnswerSkeleton />;
  if (answer.isError) return <ErrorNotice error={answer.error} onRetry={() => void answer.refetch()} />;
  return <AnswerResult result={answer.data} policy={agent} />;
}

function AnswerPanel({ kb, query, turn }: { kb: KbItem; query: string; turn: number }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const agents = useQuery(agentsQuery(connection, project));
  const fitting = agents.data?.filter(({ enabled, kbIds }) => enabled && kbIds.includes(kb.id)) ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const agent = fitting.find(({ id }) => id === chosen) ?? fitting[0];
  return (
    <section className="rounded-xl border border-line bg-surface p-4 lg:sticky lg:top-4">
      <h2 className="mb-3 flex items-center gap-2 text-base font-semibold">
        <Bot aria-hidden className="size-4.5 text-accent" />
        {t("search.answer")}
      </h2>
      {fitting.length > 1 && (
        <SelectField
          label={t("search.agent")}
          value={agent?.id ?? ""}
          onChange={setChosen}
          options={fitting.map(({ id, name }) => ({ value: id, label: name }))}
          className="mb-3"
        />
      )}
      {agents.isSuccess && agent === undefined && <Notice>{t("search.noAgent")}</Notice>}
      {agent !== undefined && <Answer agent={agent} query={query} turn={turn} />}
    </section>
  );
}

/** The passages that were found. */
function Hits({ hits, query }: { hits: UseQueryResult<KbHit[]>; query: string }) {
  const { t } = useTexts();
  return (
    <section className="min-w-0 rounded-xl border border-line bg-surface">
      <h2 className="border-b border-line px-4 py-3 text-base font-semibold">{t("search.found")}</h2>
      {hits.isPending && (
        <div aria-busy className="flex flex-col gap-3 p-4">
          {[0, 1, 2].map((row) => (
            <Skeleton key={row} className="h-16 w-full" />
          ))}
        </div>
      )}
      {hits.isError && (
        <div className="p-4">
          <ErrorNotice error={hits.error} onRetry={() => void hits.refetch()} />
        </div>
      )}
      {hits.data?.length === 0 && (
        <EmptyState icon={SearchX} title={t("search.nothing")} text={t("search.nothingText")} />
      )}
      {hits.data !== undefined && hits.data.length > 0 && (
        <ol className="divide-y divide-line">
          {hits.data.map((hit, index) => (
            <Hit
              key={hit.chunkId}
              hit={hit}
              place={index + 1}
              best={Math.max(0, ...hits.data.map(({ score }) => score))}
              query={query}
            />
          ))}
        </ol>
      )}
    </section>
  );
}

/**
 * Searches a knowledge base like a customer's question: the passages with scores, and the answer that an agent would
 * give.
 */
function SearchTab({ kb }: { kb: KbItem }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const mayExecute = useRights()("agents:execute");
  const [query, setQuery] = useState("");
  const [turn, setTurn] = useState(0);
  const hits = useQuery({
    ...searchQuery(connection, { project, kbId: kb.id, q: query, limit: HITS }),
    enabled: query !== "",
  });

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const typed = formText(new FormData(event.currentTarget), "q").trim();
    if (typed === query) void hits.refetch();
    setQuery(typed);
    setTurn((now) => now + 1);
  }

  return (
    <div className="flex flex-col gap-4">
      <form onSubmit={submit} role="search" className="flex gap-2">
        <label className="relative min-w-0 flex-1">
          <span className="sr-only">{t("search.question")}</span>
          <Search aria-hidden className="pointer-events-none absolute top-2.5 left-3 size-4 text-faint" />
          <input
            name="q"
            type="search"
            autoFocus
            required
            placeholder={t("search.question")}
            className={`${CONTROL} h-9 pl-9`}
          />
        </label>
        <Button type="submit" variant="primary" className="h-9">
          {t("search.ask")}
        </Button>
      </form>
      {query === "" ? (
        <EmptyState icon={Search} title={t("search.title")} text={t("search.text")} />
      ) : (
        <div className={`grid items-start gap-4 ${mayExecute ? "lg:grid-cols-[minmax(0,1fr)_minmax(0,26rem)]" : ""}`}>
          <Hits hits={hits} query={query} />
          {mayExecute && <AnswerPanel kb={kb} query={query} turn={turn} />}
        </div>
      )}
    </div>
  );
}

function Actions({ kb }: { kb: KbItem }) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const project = useProject();
  const navigate = useNavigate();
  const [open, setOpen] = useState<"rename" | "delete" | null>(null);
  const { runAside } = useAction();
  const target = { params: { id: kb.id }, ifMatch: kb.version };
  const refresh = () => queryClient.invalidateQueries({ queryKey: ["kbs", project] });

  async function rename(name: string) {
    await connection.call("updateKb", project, { ...target, body: { name } });
    await refresh();
  }
  async function remove() {
    await runAside(async () => {
      await connection.call("deleteKb", project, target);
      await navigate({ to: "/$project/knowledge", params: { project } });
      return t("knowledge.deleted", { name: kb.name });
    });
    setOpen(null);
    await refresh();
  }

  return (
    <>
      <Menu
        trigger={<IconButton icon={Ellipsis} label={t("knowledge.more")} className="border border-line bg-surface" />}
      >
        <MenuItem icon={Pencil} onSelect={() => setOpen("rename")}>
          {t("knowledge.rename")}
        </MenuItem>
        <MenuItem icon={Trash2} isDanger onSelect={() => setOpen("delete")}>
          {t("knowledge.delete")}
        </MenuItem>
      </Menu>
      {open === "rename" && (
        <NameDialog
          title={t("knowledge.rename")}
          action={t("ui.save")}
          first={kb.name}
          save={rename}
          onClose={() => setOpen(null)}
        />
      )}
      {open === "delete" && (
        <ConfirmDialog
          title={t("knowledge.deleteTitle", { name: kb.name })}
          action={t("knowledge.delete")}
          onConfirm={remove}
          onClose={() => setOpen(null)}
        >
          {t("knowledge.deleteText", { n: kb.documents })}
        </ConfirmDialog>
      )}
    </>
  );
}

/** A knowledge base: its documents, and a search. */
export function KbPage() {
  const { kbId } = useParams({ from: "/$project/knowledge/$kbId" });
  const { tab = "documents" } = useSearch({ from: "/$project/knowledge/$kbId" });
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const navigate = useNavigate();
  const mayWrite = useRights()("kb:write");
  const kbs = useQuery(kbsQuery(connection, project));
  const kb = kbs.data?.find(({ id }) => id === kbId);
  if (kbs.isSuccess && kb === undefined) return <MissingPage />;
  return (
    <PageFrame
      back={{ link: linkOptions({ to: "/$project/knowledge", params: { project } }), label: t("nav.knowledge") }}
      title={kb?.name ?? <Skeleton className="my-1 h-5 w-48" />}
      text={
        kb !== undefined &&
        `${t("knowledge.documents", { n: kb.documents })} · ${t("knowledge.passages", { n: kb.chunks })}`
      }
      actions={mayWrite && kb !== undefined && <Actions kb={kb} />}
    >
      {kbs.isError && <ErrorNotice error={kbs.error} onRetry={() => void kbs.refetch()} />}
      {kb !== undefined && (
        <Tabs.Root
          value={tab}
          onValueChange={(next) =>
            void navigate({ to: ".", search: next === "search" ? { tab: "search" as const } : {}, replace: true })
          }
        >
          <TabList
            label={kb.name}
            tabs={[
              { value: "documents", label: t("knowledge.documentsTab") },
              { value: "search", label: t("knowledge.searchTab") },
            ]}
          />
          <Tabs.Content value="documents" className="pt-1.5" tabIndex={-1}>
            <DocumentsTab key={kb.id} kb={kb} />
          </Tabs.Content>
          <Tabs.Content value="search" className="pt-1.5" tabIndex={-1}>
            <SearchTab key={kb.id} kb={kb} />
          </Tabs.Content>
        </Tabs.Root>
      )}
    </PageFrame>
  );
}
