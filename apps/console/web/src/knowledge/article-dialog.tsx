import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ServiceError } from "@svc/client";
import type { Gap } from "@svc/contracts";
import { kbsQuery, ownKb } from "../api/knowledge.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject } from "../session/services.ts";
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

/** Writes the article that answers a gap. Unsaved text survives a reload. */
export function ArticleDialog({ gap, onWritten, onClose }: { gap: Gap; onWritten: () => void; onClose: () => void }) {
  const { t } = useTexts();
  const { connection, storage, toasts } = useServices();
  const project = useProject();
  const name = `console.article.${gap.id}`;
  const [kept] = useState(() => readDraft(storage.getItem(name)));
  const [title, setTitle] = useState(kept.title ?? gap.question.slice(0, TITLE_MAX_CHARS));
  const [text, setText] = useState(kept.text ?? "");
  const [kbId, setKbId] = useState<string | null>(null);
  const [version, setVersion] = useState(gap.version);
  const [error, setError] = useState<string | null>(null);
  const kbs = useQuery(kbsQuery(connection, project));
  const known = kbs.data ?? [];
  // One's own first: articles of a shop do not belong into the guide of this service.
  const asked = known.filter(({ id }) => gap.kbIds.includes(id));
  const usual = gap.article?.kbId ?? (ownKb(asked) ?? ownKb(known) ?? asked[0] ?? known[0])?.id;
  const target = kbId ?? usual ?? "";

  const keep = (next: { title: string; text: string }) => storage.setItem(name, JSON.stringify(next));

  async function submit() {
    setError(null);
    const input = { params: { id: gap.id }, body: { kbId: target, title: title.trim(), text }, ifMatch: version };
    try {
      await connection.call("writeGapArticle", project, input);
    } catch (cause) {
      if (!(cause instanceof ServiceError) || cause.code !== "version_conflict") throw cause;
      // Somebody else has changed the gap: the next attempt is for what it is now.
      const { item } = await connection.call("getGap", project, { params: { id: gap.id } });
      setVersion(item.version);
      setError(t(item.article === null ? "gap.changed" : "gap.hasArticle"));
      return;
    }
    storage.removeItem(name);
    toasts.show({ kind: "done", text: t("gap.written") });
    onWritten();
    onClose();
  }

  return (
    <FormDialog
      title={t("gap.write")}
      width="wide"
      keepsText
      action={t("gap.writeNow")}
      isDisabled={target === ""}
      error={error}
      onSubmit={submit}
      onClose={onClose}
    >
      {gap.article !== null && <Notice look="warn">{t("gap.replaces")}</Notice>}
      {kbs.data?.length === 0 && <Notice look="warn">{t("gap.noBase")}</Notice>}
      <div className="grid gap-3.5 sm:grid-cols-[1fr_14rem]">
        <Field
          label={t("source.title")}
          hint={t("gap.titleHint")}
          value={title}
          maxLength={TITLE_MAX_CHARS}
          required
          onChange={(value) => {
            setTitle(value);
            keep({ title: value, text });
          }}
        />
        <SelectField
          label={t("gap.base")}
          value={target}
          onChange={setKbId}
          options={(kbs.data ?? []).map((kb) => ({ value: kb.id, label: kb.name }))}
        />
      </div>
      <TextArea
        label={t("gap.text")}
        hint={t("source.textHint")}
        rows={12}
        required
        data-autofocus
        value={text}
        onChange={(value) => {
          setText(value);
          keep({ title, text: value });
        }}
      />
    </FormDialog>
  );
}
