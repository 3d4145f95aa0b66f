import { useId, useState } from "react";
import type { SubmitEvent } from "react";
import { addDocument } from "../api/knowledge.ts";
import type { DocumentSource } from "../api/knowledge.ts";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { useProject } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { describeFault } from "../ui/describe-error.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Field, formText, TextArea } from "../ui/field.tsx";

/** What a document is made of besides files. */
export type SourceKind = "page" | "site" | "text";

const TITLES = {
  page: "knowledge.addPage",
  site: "knowledge.addSite",
  text: "knowledge.addText",
} as const satisfies Record<SourceKind, TextKey>;

const PAGES_MAX = 10_000;
const PAGES_DEFAULT = 1_000;

/** What was typed, as the server takes it. */
const READ = {
  page: (form) => ({ url: formText(form, "url").trim() }),
  site: (form) => ({ sitemap: formText(form, "url").trim(), maxPages: Number(form.get("maxPages")) }),
  text: (form) => ({ title: formText(form, "title").trim(), text: formText(form, "text") }),
} as const satisfies Record<SourceKind, (form: FormData) => DocumentSource>;

/** Adds a page of the web, all pages of a site, or a text that is written here. */
export function SourceDialog({ kind, kbId, onClose }: { kind: SourceKind; kbId: string; onClose: () => void }) {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const formId = useId();
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    setBusy(true);
    setFault(null);
    try {
      await addDocument(connection, { project, kbId }, READ[kind](new FormData(event.currentTarget)));
      for (const list of ["documents", "imports"]) {
        void queryClient.invalidateQueries({ queryKey: [list, project, kbId] });
      }
      void queryClient.invalidateQueries({ queryKey: ["kbs", project] });
      toasts.show({ kind: "done", text: t("source.added") });
      onClose();
    } catch (cause) {
      setFault(describeFault(cause, t));
      setBusy(false);
    }
  }

  return (
    <Dialog
      title={t(TITLES[kind])}
      width={kind === "text" ? "wide" : "normal"}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button type="submit" form={formId} look="primary" isBusy={isBusy}>
            {t("source.add")}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={(event) => void submit(event)} className="flex flex-col gap-3.5 p-4">
        {kind !== "text" && (
          <Field
            label={t("source.url")}
            hint={t(kind === "page" ? "source.urlHint" : "source.siteHint")}
            name="url"
            type="url"
            inputMode="url"
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
        <p role="alert" className="text-sm text-bad empty:hidden">
          {fault}
        </p>
      </form>
    </Dialog>
  );
}
