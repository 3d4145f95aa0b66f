import { ImagePlus, Save } from "lucide-react";
import { useRef } from "react";
import type { ChangeEvent } from "react";
import type { Article } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { useProject, useServices } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { Field, TextArea } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
import { useArticleChange } from "./use-article-change.ts";

const IMAGE_MAX_BYTES = 2 * 1024 * 1024;

/** The content of a file in base64. */
function readBase64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result).replace(/^[^,]*,/, "")));
    reader.addEventListener("error", () => reject(reader.error ?? new Error("The file cannot be read.")));
    reader.readAsDataURL(file);
  });
}

/** Title and text of an article; they are saved as a new version. */
export function ArticleEditor({
  article,
  draft,
  isDirty,
  onChange,
}: {
  article: Article;
  /** What is typed, and the version that it is based on. */
  draft: Article;
  isDirty: boolean;
  onChange: (draft: Article) => void;
}) {
  const { t } = useTexts();
  const { connection, toasts } = useServices();
  const project = useProject();
  const { isBusy, change } = useArticleChange();
  const picker = useRef<HTMLInputElement>(null);
  const params = { id: article.id };
  const isStale = draft.revision < article.revision;

  const save = () =>
    change(async () => {
      const body = { title: draft.title.trim(), text: draft.text };
      // Sending it to review has changed the version, but not the text that this one is based on.
      const ifMatch = isStale ? draft.version : article.version;
      onChange((await connection.call("updateArticle", project, { params, body, ifMatch })).item);
      return t("article.saved");
    });

  function addImage({ currentTarget }: ChangeEvent<HTMLInputElement>) {
    const file = currentTarget.files?.[0];
    currentTarget.value = "";
    if (file === undefined) return;
    if (file.size > IMAGE_MAX_BYTES) {
      toasts.show({ kind: "error", text: t("article.imageTooLarge") });
      return;
    }
    void change(async () => {
      const content = await readBase64(file);
      const { item } = await connection.call("addArticleImage", project, { params, body: { content } });
      const image = `![${t("article.imageAlt")}](images/${item.imageId})`;
      onChange({ ...draft, text: `${draft.text.trimEnd()}\n\n${image}\n` });
    });
  }

  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {isStale && (
        <Notice variant="warn">
          <p>{t("article.changed")}</p>
          <Button size="small" className="mt-2" onClick={() => onChange(article)}>
            {t("article.load")}
          </Button>
        </Notice>
      )}
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
      </div>
    </form>
  );
}
