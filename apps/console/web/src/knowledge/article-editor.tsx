import { useQuery } from "@tanstack/react-query";
import { GitCompare, ImagePlus, RotateCcw, Save } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import type { ChangeEvent, Dispatch, SetStateAction } from "react";
import type { Article, ArticleVersionSummary } from "@svc/contracts";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { usePeople, useProject, useRights, useServices } from "../session/services.ts";
import { Ago, Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Field, TextArea } from "../ui/field.tsx";
import { Notice, QueryView } from "../ui/notice.tsx";
import { diffTexts } from "./mark-words.ts";
import { useArticleChange } from "./stored-article.ts";

const IMAGE_MAX_BYTES = 2 * 1024 * 1024;

/** Number of bytes that are encoded in one call, because the number of arguments is limited. */
const PIECE_BYTES = 0x80_00;

/** Returns the content of a file in base64. */
async function readBase64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    text += String.fromCodePoint(...bytes.subarray(at, at + PIECE_BYTES));
  }
  return btoa(text);
}

/** A button that uploads an image; `onAdded` gets its reference in Markdown. */
function ImageButton({ articleId, onAdded }: { articleId: string; onAdded: (image: string) => void }) {
  const { t } = useTexts();
  const { connection, toasts } = useServices();
  const project = useProject();
  const { isBusy, runAside } = useAction();
  const picker = useRef<HTMLInputElement>(null);

  function addImage({ currentTarget }: ChangeEvent<HTMLInputElement>) {
    const file = currentTarget.files?.[0];
    currentTarget.value = "";
    if (file === undefined) return;
    if (file.size > IMAGE_MAX_BYTES) {
      toasts.show({ kind: "error", text: t("article.imageTooLarge") });
      return;
    }
    void runAside(async () => {
      const input = { params: { id: articleId }, body: { content: await readBase64(file) } };
      const { item } = await connection.call("addArticleImage", project, input);
      onAdded(`![${t("article.imageAlt")}](images/${item.imageId})`);
    });
  }

  return (
    <>
      <Button icon={ImagePlus} isBusy={isBusy} onClick={() => picker.current?.click()}>
        {t("article.addImage")}
      </Button>
      <input
        ref={picker}
        type="file"
        hidden
        aria-label={t("article.addImage")}
        accept="image/png,image/jpeg,image/gif,image/webp"
        onChange={addImage}
      />
    </>
  );
}

/** Warns that another operator has saved a version. */
function StaleNotice({ onLoad }: { onLoad: () => void }) {
  const { t } = useTexts();
  return (
    <Notice variant="warn">
      <p>{t("article.changed")}</p>
      <Button size="small" className="mt-2" onClick={onLoad}>
        {t("article.load")}
      </Button>
    </Notice>
  );
}

interface EditorProps {
  article: Article;
  /** The edited text, and the version that it is based on. */
  draft: Article;
  isDirty: boolean;
  onChange: Dispatch<SetStateAction<Article>>;
}

/** Title and text of an article, which are saved as a new version. */
export function ArticleEditor({ article, draft, isDirty, onChange }: EditorProps) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const { isBusy, change } = useArticleChange();
  const isStale = draft.revision < article.revision;

  // Submitting it for review changes the version, but not the text that this one is based on.
  const ifMatch = isStale ? draft.version : article.version;
  const body = { title: draft.title.trim(), text: draft.text };
  const save = () =>
    change(async () => {
      const { item } = await connection.call("updateArticle", project, { params: { id: article.id }, body, ifMatch });
      // Text that was typed meanwhile is not saved yet.
      onChange(({ title, text }) => (title === draft.title && text === draft.text ? item : { ...item, title, text }));
      return t("article.saved");
    });

  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {isStale && <StaleNotice onLoad={() => onChange(article)} />}
      <Field
        label={t("source.title")}
        hint={t("gap.titleHint")}
        value={draft.title}
        maxLength={300}
        required
        onChange={(title) => onChange({ ...draft, title })}
      />
      <TextArea
        label={t("gap.text")}
        hint={t("source.textHint")}
        rows={16}
        required
        value={draft.text}
        onChange={(text) => onChange({ ...draft, text })}
      />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" icon={Save} variant="primary" isBusy={isBusy} disabled={!isDirty}>
          {t("article.save")}
        </Button>
        <ImageButton
          articleId={article.id}
          onAdded={(image) => onChange((typed) => ({ ...typed, text: `${typed.text.trimEnd()}\n\n${image}\n` }))}
        />
      </div>
    </form>
  );
}

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

/** The changes from one text to another, with deletions struck out and insertions marked, also for screen readers. */
export function DiffView({ label, before, after }: { label: string; before: string; after: string }) {
  const parts = useMemo(() => diffTexts(before, after), [before, after]);
  return (
    <div
      dir="auto"
      tabIndex={0}
      role="region"
      aria-label={label}
      className="max-h-96 overflow-y-auto rounded-lg border border-line bg-page px-3 py-2.5 text-sm wrap-anywhere whitespace-pre-wrap"
    >
      {parts.map(({ added, removed, value }, index) => {
        if (added) {
          return (
            <ins key={index} className="rounded-xs bg-ok-soft text-ok no-underline">
              {value}
            </ins>
          );
        }
        if (removed) {
          return (
            <del key={index} className="rounded-xs bg-bad-soft text-bad">
              {value}
            </del>
          );
        }
        return <span key={index}>{value}</span>;
      })}
    </div>
  );
}
