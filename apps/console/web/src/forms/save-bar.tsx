import { useBlocker } from "@tanstack/react-router";
import { useEffect } from "react";
import { useTexts } from "../i18n/texts.ts";
import { useCommands } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Notice } from "../ui/notice.tsx";
import type { SettingsForm } from "./use-settings-form.ts";

/** Saves or discards the changes of a form, and asks before leaving the page would lose them. */
export function SaveBar<Settings>({ form }: { form: SettingsForm<Settings> }) {
  const { t } = useTexts();
  const { conflicts, discard, error, isBusy, isDirty, save } = form;
  const blocker = useBlocker({ shouldBlockFn: () => isDirty, enableBeforeUnload: isDirty, withResolver: true });
  useCommands("page", [isDirty && { id: "save", title: t("ui.save"), keys: "mod+s", run: save }]);
  // The first field with an error is focused.
  useEffect(() => {
    if (error === null) return;
    const field = document.querySelector<HTMLElement>("main [aria-invalid=true]");
    field?.focus();
    // The bar covers the end of the page.
    field?.scrollIntoView({ block: "center" });
  }, [error]);
  return (
    <>
      {isDirty && (
        <div className="animate-appear sticky bottom-4 z-20 mt-4 flex flex-col gap-2.5 rounded-xl border border-line bg-raised p-3 shadow-pop">
          {conflicts.length > 0 && (
            <Notice variant="warn">{t("integrations.conflict", { fields: conflicts.map(String).join(", ") })}</Notice>
          )}
          {error !== null && <Notice variant="bad">{error}</Notice>}
          <div className="flex items-center gap-2">
            <p role="status" className="min-w-0 flex-1 truncate pl-1 text-sm text-muted">
              {t("integrations.unsaved")}
            </p>
            <Button variant="quiet" onClick={discard}>
              {t("integrations.discard")}
            </Button>
            <Button variant="primary" isBusy={isBusy} onClick={save} keys="mod+s">
              {t("ui.save")}
            </Button>
          </div>
        </div>
      )}
      {blocker.status === "blocked" && (
        <ConfirmDialog
          title={t("integrations.leaveTitle")}
          action={t("integrations.discard")}
          onClose={blocker.reset}
          onConfirm={blocker.proceed}
        >
          {t("integrations.leaveText")}
        </ConfirmDialog>
      )}
    </>
  );
}
