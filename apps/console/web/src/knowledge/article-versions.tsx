import { useQuery } from "@tanstack/react-query";
import { GitCompare, RotateCcw } from "lucide-react";
import { useState } from "react";
import type { Article, ArticleVersionSummary } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { usePeople, useProject, useRights, useServices } from "../session/services.ts";
import { Ago } from "../ui/ago.tsx";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { QueryView } from "../ui/notice.tsx";
import { DiffView } from "./diff-view.tsx";
import { useArticleChange } from "./stored-article.ts";

const wholeText = ({ title, text }: { title: string; text: string }) => `${title}\n\n${text}`;

/** The changes from a version to the newest one. */
function Comparison({ article, number }: { article: Article; number: number }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const params = { id: article.id, number: String(number) };
  const version = useQuery({
    queryKey: ["article-version", project, article.id, number],
    // A version never changes.
    staleTime: Infinity,
    queryFn: async ({ signal }) => (await connection.call("getArticleVersion", project, { params, signal })).item,
  });
  return (
    <div className="mt-2.5">
      <QueryView query={version} skeleton="h-24 w-full">
        {(item) => (
          <DiffView label={t("article.changes", { number })} before={wholeText(item)} after={wholeText(article)} />
        )}
      </QueryView>
    </div>
  );
}

function Row({
  article,
  version: { number, restores, savedAt, savedBy, title },
  isOpen,
  isDirty,
  onToggle,
  onRestore,
}: {
  article: Article;
  version: ArticleVersionSummary;
  isOpen: boolean;
  /** True if the editor has changes that a restored version would replace. */
  isDirty: boolean;
  onToggle: () => void;
  /** Null if the operator may not restore. */
  onRestore: (() => void) | null;
}) {
  const { t } = useTexts();
  const { nameOf } = usePeople();
  const isNewest = number === article.revision;
  return (
    <li className="px-3 py-2.5">
      <div className="flex flex-wrap items-center gap-2">
        <div className="min-w-48 flex-1">
          <p className="flex flex-wrap items-center gap-2 text-sm font-medium">
            {t("article.revision", { number })}
            {isNewest && <Badge>{t("article.newest")}</Badge>}
            {number === article.publishedRevision && <Badge tone="ok">{t("article.published")}</Badge>}
          </p>
          <p className="text-xs text-muted wrap-anywhere">
            <span dir="auto">{title}</span> · {nameOf(savedBy)}, <Ago time={savedAt} as="past" />
            {restores !== null && ` · ${t("article.restores", { number: restores })}`}
          </p>
        </div>
        {!isNewest && (
          <>
            <Button size="small" icon={GitCompare} aria-expanded={isOpen} onClick={onToggle}>
              {t("article.compare", { number })}
            </Button>
            {onRestore !== null && (
              <Button
                size="small"
                icon={RotateCcw}
                disabled={isDirty}
                title={isDirty ? t("article.saveFirst") : undefined}
                onClick={onRestore}
              >
                {t("article.restore", { number })}
              </Button>
            )}
          </>
        )}
      </div>
      {isOpen && <Comparison article={article} number={number} />}
    </li>
  );
}

/** The versions of an article, newest first, each compared with the newest one, or restored as a new draft. */
export function ArticleVersions({
  article,
  isDirty,
  onRestored,
}: {
  article: Article;
  isDirty: boolean;
  onRestored: (article: Article) => void;
}) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const mayWrite = useRights()("kb:write");
  const { change } = useArticleChange();
  const [openNumber, setOpenNumber] = useState<number | null>(null);
  const params = { id: article.id };
  const versions = useQuery({
    queryKey: ["article-versions", project, article.id],
    queryFn: async ({ signal }) => (await connection.call("listArticleVersions", project, { params, signal })).items,
  });
  const restore = (number: number) =>
    change(async () => {
      const target = { params, body: { number }, ifMatch: article.version };
      onRestored((await connection.call("restoreArticleVersion", project, target)).item);
      setOpenNumber(null);
      return t("article.restored", { number });
    });
  return (
    <QueryView query={versions} skeleton="h-32 w-full rounded-xl">
      {(items) => (
        <ul
          aria-label={t("article.versions")}
          className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface"
        >
          {items.map((version) => (
            <Row
              key={version.number}
              article={article}
              version={version}
              isOpen={version.number === openNumber}
              isDirty={isDirty}
              onToggle={() => setOpenNumber(version.number === openNumber ? null : version.number)}
              onRestore={mayWrite ? () => void restore(version.number) : null}
            />
          ))}
        </ul>
      )}
    </QueryView>
  );
}
