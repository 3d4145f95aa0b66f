import { useQuery } from "@tanstack/react-query";
import { linkOptions, useNavigate, useParams } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { Tabs } from "radix-ui";
import { useCallback, useEffect, useRef, useState } from "react";
import type { Article } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { usePeople, useProject, useRights, useServices } from "../session/services.ts";
import { Ago } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { TabList } from "../ui/choice-fields.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { imageOf, useAddress } from "../ui/image.ts";
import { Markdown, OwnImages } from "../ui/markdown.tsx";
import { QueryView } from "../ui/notice.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { ArticleEditor, ArticleVersions } from "./article-editor.tsx";
import { ArticleBadge } from "./articles-page.tsx";
import { readStoredArticle, useArticleChange } from "./stored-article.ts";

const OWN_IMAGE = /^images\/([\da-f-]{36})$/i;

/** An image of an article; its description while it loads, or if it cannot be shown. */
function ArticleImage({ articleId, imageId, alt }: { articleId: string; imageId: string; alt: string }) {
  const { connection } = useServices();
  const project = useProject();
  const { data = null } = useQuery({
    queryKey: ["article-image", project, articleId, imageId],
    staleTime: Infinity,
    queryFn: async () =>
      imageOf(await connection.fetchFile(`/api/v1/admin/articles/${articleId}/images/${imageId}`, project)),
  });
  const address = useAddress(data);
  if (address === null) return <>{alt}</>;
  return <img src={address} alt={alt} className="max-h-96 max-w-full rounded-lg border border-line" />;
}

/** An article as Markdown, rendered like answers, with its own images. */
function ArticlePreview({ articleId, title, text }: { articleId: string; title: string; text: string }) {
  const { t } = useTexts();
  const show = useCallback(
    (href: string, alt: string) => {
      const imageId = OWN_IMAGE.exec(href)?.[1];
      return imageId === undefined ? null : <ArticleImage articleId={articleId} imageId={imageId} alt={alt} />;
    },
    [articleId],
  );
  return (
    <>
      <p className="mb-3 text-sm text-muted">{t("article.previewText")}</p>
      <article className="max-w-2xl rounded-xl border border-line bg-surface p-5 text-sm">
        <h2 className="mb-2 text-lg font-semibold wrap-anywhere" dir="auto">
          {title}
        </h2>
        <OwnImages value={show}>
          <Markdown text={text} />
        </OwnImages>
      </article>
    </>
  );
}

/** Buttons that move an article through its review. */
function Actions({ article, isDirty }: { article: Article; isDirty: boolean }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const navigate = useNavigate();
  const { isBusy, change } = useArticleChange();
  const [isDeleting, setDeleting] = useState(false);
  const target = { params: { id: article.id }, ifMatch: article.version };
  const setStatus = (status: "draft" | "in_review") =>
    change(async () => {
      await connection.call("updateArticle", project, { ...target, body: { status } });
      return t(status === "draft" ? "article.returned" : "article.reviewed");
    });
  const publish = () =>
    change(async () => {
      await connection.call("publishArticle", project, target);
      return t("article.publishing");
    });
  const remove = () =>
    change(async () => {
      await connection.call("deleteArticle", project, target);
      await navigate({ to: "/$project/knowledge/articles", params: { project } });
      return t("article.deleted");
    });
  const hint = isDirty ? t("article.saveFirst") : undefined;
  const common = { isBusy, disabled: isDirty, title: hint };
  return (
    <>
      {article.status === "draft" && (
        <Button {...common} onClick={() => void setStatus("in_review")}>
          {t("article.review")}
        </Button>
      )}
      {article.status === "in_review" && (
        <Button {...common} onClick={() => void setStatus("draft")}>
          {t("article.back")}
        </Button>
      )}
      {article.status !== "published" && (
        <Button {...common} variant="primary" onClick={() => void publish()}>
          {t("article.publish")}
        </Button>
      )}
      <IconButton icon={Trash2} label={t("article.delete")} onClick={() => setDeleting(true)} />
      {isDeleting && (
        <ConfirmDialog
          title={t("article.delete")}
          action={t("article.delete")}
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        >
          {t("article.deleteText")}
        </ConfirmDialog>
      )}
    </>
  );
}

/** The text of an article in the editor. Unsaved changes are stored in this browser, and survive a reload. */
function useArticleDraft(article: Article) {
  const { storage } = useServices();
  const { me } = usePeople();
  const name = `console.article-text.${me}.${article.id}`;
  const [draft, setDraft] = useState<Article>(() => ({ ...article, ...readStoredArticle(storage.getItem(name)) }));
  const stored = useRef(draft);
  useEffect(() => {
    const before = stored.current;
    if (before === draft) return;
    stored.current = draft;
    const { revision, text, title, version } = draft;
    const isSaved = title === article.title && text === article.text;
    // The server returned another version, because it was saved or loaded.
    if (version === before.version && !isSaved)
      storage.setItem(name, JSON.stringify({ revision, text, title, version }));
    else storage.removeItem(name);
  }, [article.text, article.title, draft, name, storage]);
  return [draft, setDraft] as const;
}

function ArticleView({ article }: { article: Article }) {
  const { t } = useTexts();
  const { nameOf } = usePeople();
  const project = useProject();
  const mayWrite = useRights()("kb:write");
  const [tab, setTab] = useState(mayWrite ? "edit" : "preview");
  const [draft, setDraft] = useArticleDraft(article);
  const isDirty = draft.title !== article.title || draft.text !== article.text;
  // Operators without edit permission see the newest version, also after it has changed.
  const shown = mayWrite ? draft : article;
  const { publishedRevision, revision, status, title, updatedAt, updatedBy } = article;
  const tabs = [
    ...(mayWrite ? [{ value: "edit", label: t("article.edit") }] : []),
    { value: "preview", label: t("article.preview") },
    { value: "versions", label: t("article.versions") },
  ];
  return (
    <PageFrame
      back={{
        link: linkOptions({ to: "/$project/knowledge/articles", params: { project } }),
        label: t("knowledge.articles"),
      }}
      title={title}
      text={
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <ArticleBadge status={status} />
          <span>
            {t("article.revision", { number: revision })} · {nameOf(updatedBy)}, <Ago time={updatedAt} as="past" />
          </span>
          {publishedRevision !== null && publishedRevision !== revision && (
            <span>· {t("article.earlierPublished", { number: publishedRevision })}</span>
          )}
        </span>
      }
      actions={mayWrite && <Actions article={article} isDirty={isDirty} />}
    >
      <Tabs.Root value={tab} onValueChange={setTab}>
        <TabList label={title} tabs={tabs} />
        <Tabs.Content value="edit" className="pt-4" tabIndex={-1}>
          <ArticleEditor article={article} draft={draft} isDirty={isDirty} onChange={setDraft} />
        </Tabs.Content>
        <Tabs.Content value="preview" className="pt-4" tabIndex={-1}>
          <ArticlePreview articleId={article.id} title={shown.title} text={shown.text} />
        </Tabs.Content>
        <Tabs.Content value="versions" className="pt-4" tabIndex={-1}>
          <ArticleVersions article={article} isDirty={isDirty} onRestored={setDraft} />
        </Tabs.Content>
      </Tabs.Root>
    </PageFrame>
  );
}

/** An article: its text, preview, versions, and review. */
export function ArticlePage() {
  const { articleId } = useParams({ from: "/$project/knowledge/articles/$articleId" });
  const { connection } = useServices();
  const project = useProject();
  const article = useQuery({
    queryKey: ["article", project, articleId],
    queryFn: async ({ signal }) =>
      (await connection.call("getArticle", project, { params: { id: articleId }, signal })).item,
  });
  return (
    <QueryView query={article} skeleton="m-8 h-64">
      {(item) => <ArticleView key={item.id} article={item} />}
    </QueryView>
  );
}
