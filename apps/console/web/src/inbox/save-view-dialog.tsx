import { useId } from "react";
import type { SubmitEvent } from "react";
import { useServices } from "../app/services.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { formText } from "../ui/form-text.ts";
import { Field } from "../ui/field.tsx";
import type { InboxSearch } from "./inbox-search.ts";
import { useSavedViews } from "./saved-views.ts";

const NAME_MAX_CHARS = 60;

/** Gives the view with its filters a name, so that it stands beside the others. */
export default function SaveViewDialog({
  view,
  search,
  onClose,
}: {
  view: string;
  search: InboxSearch;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const { toasts } = useServices();
  const { save } = useSavedViews();
  const formId = useId();
  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const name = formText(new FormData(event.currentTarget), "name").trim();
    if (name === "") return;
    save({ name, view, search });
    toasts.show({ kind: "done", text: t("inbox.viewSaved", { name }) });
    onClose();
  }
  return (
    <Dialog
      title={t("inbox.saveView")}
      width="small"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button type="submit" form={formId} look="primary">
            {t("ui.save")}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={submit} className="p-4">
        <Field
          label={t("inbox.viewName")}
          hint={t("inbox.saveHint")}
          name="name"
          maxLength={NAME_MAX_CHARS}
          required
          autoFocus
        />
      </form>
    </Dialog>
  );
}
