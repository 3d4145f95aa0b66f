import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { FilePenLine, Plus } from "lucide-react";
import { useDeferredValue, useState } from "react";
import type { ArticleStatus, ArticleSummary } from "@svc/contracts";
import { kbsQuery, ownKb } from "../api/knowledge.ts";
import { definedParams, pagesQuery } from "../api/connection.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { Pages, itemsOf, useRowKeys } from "../lists/resource-page.tsx";
import { useCommands, useProject, useRights, useServices } from "../session/services.ts";
import { Ago, Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Field, SearchField, SelectField, TextArea } from "../ui/field.tsx";
import { EmptyState } from "../ui/notice.tsx";
import { KnowledgeFrame } from "./knowledge-frame.tsx";

const TONES = { draft: "plain", in_review: "warn", published: "ok" } as const;

/** Status of the newest version of an article. */
export function ArticleBadge({ status }: { status: ArticleStatus }) {
  const { t } = useTexts();
  return <Badge tone={TONES[status]}>{t(`article.${status}`)}</Badge>;
}

/** Creates an article as a draft. */
function NewArticleDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const project = useProject();
  const navigate = useNavigate();
  const kbs = useQuery(kbsQuery(connection, project)).data ?? [];
  const [kbId, setKbId] = useState<string | null>(null);
  const [title, setTitle] = useState("");
  const [text, setText] = useState("");
  const target = kbId ?? (ownKb(kbs) ?? kbs[0])?.id ?? "";

  async function create() {
    const body = { kbId: target, title: title.trim(), text };
    const { item } = await connection.call("createArticle", project, { body });
    void queryClient.invalidateQueries({ queryKey: ["articles", project] });
    await navigate({ to: "/$project/knowledge/articles/$articleId", params: { project, articleId: item.id } });
  }

  return (
    <FormDialog
      title={t("article.new")}
      width="wide"
      action={t("article.create")}
      isDisabled={target === ""}
      onSubmit={create}
      onClose={onClose}
    >
      <div className="grid gap-3.5 sm:grid-cols-[1fr_14rem]">
        <Field label={t("source.title")} value={title} maxLength={300} required onChange={setTitle} />
        <SelectField
          label={t("gap.base")}
          value={target}
          onChange={setKbId}
          options={kbs.map(({ id, name }) => ({ value: id, label: name }))}
        />
      </div>
      <TextArea label={t("gap.text")} hint={t("source.textHint")} rows={12} required value={text} onChange={setText} />
    </FormDialog>
  );
}

function Row({ article }: { article: ArticleSummary }) {
  const { t } = useTexts();
  const project = useProject();
  const { id, publishedRevision, revision, status, title, updatedAt } = article;
  return (
    <li>
      <Link
        to="/$project/knowledge/articles/$articleId"
        params={{ project, articleId: id }}
        data-row={id}
        className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2.5 -outline-offset-2 hover:bg-hover"
      >
        <span className="min-w-40 flex-1 text-sm font-medium wrap-anywhere" dir="auto">
          {title}
        </span>
        <ArticleBadge status={status} />
        <span className="text-xs text-muted">
          {publishedRevision !== null && publishedRevision !== revision
            ? t("article.earlierPublished", { number: publishedRevision })
            : t("article.revision", { number: revision })}
          {" · "}
          <Ago time={updatedAt} />
        </span>
      </Link>
    </li>
  );
}

const STATUSES = ["draft", "in_review", "published"] as const satisfies readonly ArticleStatus[];

/** Articles that operators write, newest first. */
export function ArticlesPage() {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const mayWrite = useRights()("kb:write");
  const [status, setStatus] = useState<ArticleStatus | "">("");
  const [search, setSearch] = useState("");
  const [isWriting, setWriting] = useState(false);
  const q = useDeferredValue(search.trim());
  const articles = useInfiniteQuery(
    pagesQuery(["articles", project, status, q], ({ query, signal }) =>
      connection.call("listArticles", project, { query: { ...query, ...definedParams({ q, status }) }, signal }),
    ),
  );
  const items = itemsOf(articles);
  const { listRef } = useRowKeys(items, () => []);
  const create = { id: "new-article", title: t("article.new"), keys: "c", run: () => setWriting(true) };
  useCommands("page", [mayWrite && create]);
  const button = mayWrite && (
    <Button icon={Plus} variant="primary" keys="c" onClick={create.run}>
      {t("article.new")}
    </Button>
  );
  const isFiltered = q !== "" || status !== "";
  return (
    <KnowledgeFrame actions={button}>
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <SearchField label={t("article.find")} value={search} onChange={setSearch} className="basis-48" />
        <SelectField
          label={t("article.status")}
          hidesLabel
          value={status}
          onChange={setStatus}
          options={[
            { value: "" as const, label: t("article.all") },
            ...STATUSES.map((value) => ({ value, label: t(`article.${value}`) })),
          ]}
        />
      </div>
      <Pages
        query={articles}
        skeleton="h-11 w-full rounded-lg"
        empty={
          <EmptyState
            icon={FilePenLine}
            title={t(isFiltered ? "knowledge.noMatch" : "article.none")}
            text={t(isFiltered ? "knowledge.noMatchText" : "article.noneText")}
          />
        }
      >
        <ul ref={listRef} className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface">
          {items.map((article) => (
            <Row key={article.id} article={article} />
          ))}
        </ul>
      </Pages>
      {isWriting && <NewArticleDialog onClose={() => setWriting(false)} />}
    </KnowledgeFrame>
  );
}
