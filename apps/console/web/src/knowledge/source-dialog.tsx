import { addDocument } from "../api/knowledge.ts";
import type { DocumentSource } from "../api/knowledge.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { useServices, useProject } from "../session/services.ts";
import { Field, formText, TextArea } from "../ui/field.tsx";

/** Kind of a document that is not an uploaded file. */
export type SourceKind = "page" | "site" | "text";

const TITLES = {
  page: "knowledge.addPage",
  site: "knowledge.addSite",
  text: "knowledge.addText",
} as const satisfies Record<SourceKind, TextKey>;

const PAGES_MAX = 10_000;
const PAGES_DEFAULT = 1_000;

/** Returns the typed URL, with the scheme https if it has none. */
function readUrl(form: FormData): string {
  const text = formText(form, "url").trim();
  return /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`;
}

/** Reads the form of each kind, in the format of the API. */
const FORM_READERS = {
  page: (form) => ({ url: readUrl(form) }),
  site: (form) => ({ sitemap: readUrl(form), maxPages: Number(form.get("maxPages")) }),
  text: (form) => ({ title: formText(form, "title").trim(), text: formText(form, "text") }),
} as const satisfies Record<SourceKind, (form: FormData) => DocumentSource>;

/** Dialog that adds a web page, all pages of a site, or a text. */
export function SourceDialog({ kind, kbId, onClose }: { kind: SourceKind; kbId: string; onClose: () => void }) {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();

  async function submit(form: FormData) {
    await addDocument(connection, { project, kbId }, FORM_READERS[kind](form));
    for (const list of ["documents", "imports"]) {
      void queryClient.invalidateQueries({ queryKey: [list, project, kbId] });
    }
    void queryClient.invalidateQueries({ queryKey: ["kbs", project] });
    const text = kind === "site" ? t("source.reading", { site: readUrl(form) }) : t("source.added");
    toasts.show({ kind: "done", text });
    onClose();
  }

  return (
    <FormDialog
      title={t(TITLES[kind])}
      width={kind === "text" ? "wide" : "normal"}
      action={t("source.add")}
      onSubmit={submit}
      onClose={onClose}
    >
      {kind !== "text" && (
        <Field
          label={t("source.url")}
          hint={t(kind === "page" ? "source.urlHint" : "source.siteHint")}
          name="url"
          inputMode="url"
          autoCapitalize="none"
          spellCheck={false}
          placeholder={kind === "page" ? "https://www.example.com/help" : "https://www.example.com"}
          required
        />
      )}
      {kind === "site" && (
        <Field
          label={t("source.maxPages")}
          name="maxPages"
          type="number"
          min={1}
          max={PAGES_MAX}
          defaultValue={PAGES_DEFAULT}
          required
        />
      )}
      {kind === "text" && (
        <>
          <Field label={t("source.title")} name="title" required />
          <TextArea label={t("source.text")} hint={t("source.textHint")} name="text" rows={12} required />
        </>
      )}
    </FormDialog>
  );
}
