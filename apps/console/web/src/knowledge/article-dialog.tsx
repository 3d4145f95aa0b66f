import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ServiceError } from "@svc/client";
import type { ArticleInput, Gap } from "@svc/contracts";
import type { Connection } from "../api/connection.ts";
import { kbsQuery, ownKb } from "../api/knowledge.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-action.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { Field, SelectField, TextArea } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";

const TITLE_MAX_CHARS = 300;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Returns the unsaved article in a stored text. */
function readDraft(text: string | null): { title?: string; text?: string } {
  if (text === null) return {};
  try {
    const kept: unknown = JSON.parse(text);
    if (!isRecord(kept)) return {};
    const { text: body, title } = kept;
    return {
      ...(typeof title === "string" ? { title } : {}),
      ...(typeof body === "string" ? { text: body } : {}),
    };
  } catch {
    // Something else is kept under this name.
    return {};
  }
}

/** Saves a text as a draft of a gap's article, and returns the article's ID. */
async function saveGapDraft(connection: Connection, project: string, gapId: string, { kbId, ...body }: ArticleInput) {
  const { items } = await connection.call("listArticles", project, { query: { gapId } });
  const known = items.find((item) => item.kbId === kbId);
  const { item } =
    known === undefined
      ? await connection.call("createArticle", project, { body: { ...body, kbId, gapId } })
      : await connection.call("updateArticle", project, { params: { id: known.id }, body, ifMatch: known.version });
  return item.id;
}

/** The article of a gap, whose unsaved text is stored in this browser. */
function useArticle(gap: Gap, onWritten: () => void) {
  const { t } = useTexts();
  const { connection, storage, toasts } = useServices();
  const project = useProject();
  const name = `console.article.${gap.id}`;
  const [stored] = useState(() => readDraft(storage.getItem(name)));
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
      // Another operator has changed the gap: the next attempt is for its current version.
      const { item } = await connection.call("getGap", project, { params });
      setVersion(item.version);
      setError(t(item.article === null ? "gap.changed" : "gap.hasArticle"));
      return;
    }
    storage.removeItem(name);
    toasts.show({ kind: "done", text: t("gap.written") });
    onWritten();
  }

  async function saveDraft(kbId: string): Promise<string> {
    const body = { kbId, title: article.title.trim(), text: article.text };
    const id = await saveGapDraft(connection, project, gap.id, body);
    storage.removeItem(name);
    return id;
  }
  return { article, change, error, submit, saveDraft };
}

/** Saves the text as a draft, and opens the page of its article. */
function DraftButton({ isDisabled, save }: { isDisabled: boolean; save: () => Promise<string> }) {
  const { t } = useTexts();
  const project = useProject();
  const { queryClient } = useServices();
  const navigate = useNavigate();
  const { isBusy, runAside } = useAction();
  const saveAndOpen = async () => {
    const articleId = await save();
    for (const name of ["article", "articles", "article-versions"]) {
      void queryClient.invalidateQueries({ queryKey: [name, project] });
    }
    await navigate({ to: "/$project/knowledge/articles/$articleId", params: { project, articleId } });
  };
  return (
    <Button className="self-start" isBusy={isBusy} disabled={isDisabled} onClick={() => void runAside(saveAndOpen)}>
      {t("article.saveDraft")}
    </Button>
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
  // The project's own first: articles of a shop do not belong into the guide of this service.
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
        isDisabled={target === "" || article.title.trim() === "" || article.text.trim() === ""}
        save={() => saveDraft(target)}
      />
    </FormDialog>
  );
}
