import { ImagePlus, Save } from "lucide-react";
import { useRef } from "react";
import type { ChangeEvent, Dispatch, SetStateAction } from "react";
import type { Article } from "@svc/contracts";
import { useAction } from "../forms/use-action.ts";
import { useTexts } from "../i18n/texts.ts";
import { useProject, useServices } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { Field, TextArea } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
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
