import { useState } from "react";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject } from "../session/services.ts";
import { formText, Field } from "../ui/field.tsx";
import type { InboxSearch } from "./inbox-search.ts";
import { filtersOf, useSavedViews } from "./saved-views.ts";

/** Copied from the server, because the pages import no code of the contracts. */
const VIEW_NAME_MAX_CHARS = 60;

/** Saves the view with its filters under a name. */
export function SaveViewDialog({ view, search, onClose }: { view: string; search: InboxSearch; onClose: () => void }) {
  const { t } = useTexts();
  const { toasts } = useServices();
  const { save, find } = useSavedViews();
  const project = useProject();
  const [error, setError] = useState<string | undefined>(undefined);
  function submit(form: FormData) {
    const name = formText(form, "name").trim();
    if (name === "") return;
    const owner = search.projects === "all" ? null : project;
    const known = find(name);
    if (known !== undefined && known.project !== owner) {
      setError(t("inbox.viewTaken", { project: known.project ?? t("inbox.allProjects") }));
      return;
    }
    onClose();
    void save({ name, project: owner, view, filters: filtersOf(search) }).then((isSaved) => {
      if (isSaved) toasts.show({ kind: "done", text: t("inbox.viewSaved", { name }) });
    });
  }
  return (
    <FormDialog title={t("inbox.saveView")} width="small" action={t("ui.save")} onSubmit={submit} onClose={onClose}>
      <Field
        label={t("inbox.viewName")}
        hint={t("inbox.saveHint")}
        error={error}
        name="name"
        maxLength={VIEW_NAME_MAX_CHARS}
        required
        autoFocus
      />
    </FormDialog>
  );
}
