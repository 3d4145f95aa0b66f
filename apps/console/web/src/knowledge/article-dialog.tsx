import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ServiceError } from "@svc/client";
import type { ArticleInput, Gap } from "@svc/contracts";
import type { Connection } from "../api/connection.ts";
import { kbsQuery, ownKb } from "../api/knowledge.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { usePeople, useServices, useProject } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { Field, SelectField, TextArea } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
import { readStoredArticle } from "./stored-article.ts";

const TITLE_MAX_CHARS = 300;

/** A saved draft, by its article's ID, or the author of another one that it would replace. */
type SavedDraft = { id: string } | { isOf: string };

/**
 * Saves a text as a draft of a gap's article. The draft of another operator is replaced only if `replaces` names them.
 */
async function saveGapDraft(
  { connection, project, me }: { connection: Connection; project: string; me: string },
  gapId: string,
  { kbId, ...body }: ArticleInput,
  replaces: string | null,
): Promise<SavedDraft> {
  const { items } = await connection.call("listArticles", project, { query: { gapId } });
  const known = items.find((item) => item.kbId === kbId);
  if (known !== undefined && known.updatedBy !== me && known.updatedBy !== replaces) return { isOf: known.updatedBy };
  const { item } =
    known === undefined
      ? await connection.call("createArticle", project, { body: { ...body, kbId, gapId } })
      : await connection.call("updateArticle", project, { params: { id: known.id }, body, ifMatch: known.version });
  return { id: item.id };
}

/** The article of a gap, whose unsaved text is stored in this browser. */
function useArticle(gap: Gap, onWritten: () => void) {
  const { t } = useTexts();
  const { connection, storage, toasts } = useServices();
  const project = useProject();
  const { me } = usePeople();
  const name = `console.article.${gap.id}`;
  const [stored] = useState(() => readStoredArticle(storage.getItem(name)));
  const [article, setArticle] = useState({
    title: stored.title ?? gap.question.slice(0, TITLE_MAX_CHARS),
    text: stored.text ?? "",
  });
  const [version, setVersion] = useState(gap.version);
  const [error, setError] = useState<string | null>(null);

  function change(part: Partial<typeof article>) {
    const next = { ...article, ...part };
    setArticle(next);
    storage.setItem(name, JSON.stringify(next));
  }

  async function submit(kbId: string) {
    setError(null);
    const params = { id: gap.id };
    const body = { kbId, title: article.title.trim(), text: article.text };
    try {
      await connection.call("writeGapArticle", project, { params, body, ifMatch: version });
    } catch (cause) {
      if (!(cause instanceof ServiceError) || cause.code !== "version_conflict") throw cause;
      // Another operator has changed the gap: the next attempt applies to its current version.
      const { item } = await connection.call("getGap", project, { params });
      setVersion(item.version);
      setError(t(item.article === null ? "gap.changed" : "gap.hasArticle"));
      return;
    }
    storage.removeItem(name);
    toasts.show({ kind: "done", text: t("gap.written") });
    onWritten();
  }

  async function saveDraft(kbId: string, replaces: string | null): Promise<SavedDraft> {
    const body = { kbId, title: article.title.trim(), text: article.text };
    const saved = await saveGapDraft({ connection, project, me }, gap.id, body, replaces);
    if ("id" in saved) storage.removeItem(name);
    return saved;
  }
  return { article, change, error, submit, saveDraft };
}

/** Saves the text as a draft, and opens the page of its article. Asks before it replaces a colleague's draft. */
function DraftButton({
  isDisabled,
  save,
}: {
  isDisabled: boolean;
  save: (replaces: string | null) => Promise<SavedDraft>;
}) {
  const { t } = useTexts();
  const { nameOf } = usePeople();
  const project = useProject();
  const { queryClient } = useServices();
  const navigate = useNavigate();
  const { isBusy, runAside } = useAction();
  /** The operator whose draft would be replaced. */
  const [owner, setOwner] = useState<string | null>(null);
  const saveAndOpen = async (replaces: string | null) => {
    const saved = await save(replaces);
    if (!("id" in saved)) return setOwner(saved.isOf);
    for (const name of ["article", "articles", "article-versions"]) {
      void queryClient.invalidateQueries({ queryKey: [name, project] });
    }
    await navigate({ to: "/$project/knowledge/articles/$articleId", params: { project, articleId: saved.id } });
  };
  const run = (replaces: string | null) => void runAside(() => saveAndOpen(replaces));
  return (
    <div role="status">
      {owner === null ? (
        <Button isBusy={isBusy} disabled={isDisabled} onClick={() => run(null)}>
          {t("article.saveDraft")}
        </Button>
      ) : (
        <Notice
          variant="warn"
          action={
            <Button size="small" isBusy={isBusy} disabled={isDisabled} onClick={() => run(owner)}>
              {t("article.replaceDraft")}
            </Button>
          }
        >
          {t("article.draftOf", { name: nameOf(owner) })}
        </Notice>
      )}
    </div>
  );
}

/** Writes the article that answers a gap. Unsaved text survives a reload. */
export function ArticleDialog({ gap, onWritten, onClose }: { gap: Gap; onWritten: () => void; onClose: () => void }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const kbs = useQuery(kbsQuery(connection, useProject()));
  const [kbId, setKbId] = useState<string | null>(null);
  const { article, change, error, submit, saveDraft } = useArticle(gap, () => {
    onWritten();
    onClose();
  });
  const known = kbs.data ?? [];
  // The project's own first: articles of a shop do not belong in the guide of this service.
  const searched = known.filter(({ id }) => gap.kbIds.includes(id));
  const usual = gap.article?.kbId ?? (ownKb(searched) ?? ownKb(known) ?? searched[0] ?? known[0])?.id;
  const target = kbId ?? usual ?? "";
  return (
    <FormDialog
      title={t("gap.write")}
      width="wide"
      keepsText
      action={t("gap.writeNow")}
      isDisabled={target === ""}
      error={error}
      onSubmit={() => submit(target)}
      onClose={onClose}
    >
      {gap.article !== null && <Notice variant="warn">{t("gap.replaces")}</Notice>}
      {kbs.data?.length === 0 && <Notice variant="warn">{t("gap.noBase")}</Notice>}
      <div className="grid gap-3.5 sm:grid-cols-[1fr_14rem]">
        <Field
          label={t("source.title")}
          hint={t("gap.titleHint")}
          value={article.title}
          maxLength={TITLE_MAX_CHARS}
          required
          onChange={(title) => change({ title })}
        />
        <SelectField
          label={t("gap.base")}
          value={target}
          onChange={setKbId}
          options={known.map(({ id, name }) => ({ value: id, label: name }))}
        />
      </div>
      <TextArea
        label={t("gap.text")}
        hint={t("source.textHint")}
        rows={12}
        required
        data-autofocus
        value={article.text}
        onChange={(text) => change({ text })}
      />
      <DraftButton
        key={target}
        isDisabled={target === "" || article.title.trim() === "" || article.text.trim() === ""}
        save={(replaces) => saveDraft(target, replaces)}
      />
    </FormDialog>
  );
}
