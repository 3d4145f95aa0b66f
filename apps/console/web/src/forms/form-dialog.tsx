import { useBlocker } from "@tanstack/react-router";
import { useCallback, useEffect, useId, useRef, useState } from "react";
import type { ComponentProps, ReactNode } from "react";
import { useTexts } from "../i18n/texts.ts";
import { useCommands } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { errorAt } from "../ui/describe-error.ts";
import { ConfirmDialog, Dialog } from "../ui/dialog.tsx";
import { FieldErrors } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
import { useAction } from "./use-settings-form.ts";
import type { SettingsForm } from "./use-settings-form.ts";

/**
 * Holds the values of a form's text fields; `field` returns the attributes of the field with a name, which finds its error
 * under that name in the request.
 */
export function useFields<Values extends Record<string, string>>(initial: Values) {
  const [values, setValues] = useState(initial);
  const field = (name: keyof Values) => ({
    pointer: `/${String(name)}`,
    value: values[name],
    onChange: (value: string) => setValues((known) => ({ ...known, [name]: value })),
  });
  return { values, field };
}

/**
 * The error of a form as a whole, scrolled into view unless a field is marked. The element exists before it has a text,
 * so that screen readers announce it.
 */
export function FormError({ error, isAtField = false }: { error: string | null; isAtField?: boolean }) {
  const ref = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (error !== null && !isAtField) ref.current?.scrollIntoView({ block: "nearest" });
  }, [error, isAtField]);
  return (
    <p ref={ref} role="alert" className="text-sm wrap-anywhere text-bad empty:hidden">
      {error}
    </p>
  );
}

/**
 * Returns how fields with a `pointer` find their error in `cause`, the error of the last submit, and whether one has
 * any. Then the first of them is focused and scrolled into view, otherwise the error of the form.
 */
function useFieldErrors(cause: unknown) {
  const { t } = useTexts();
  const formRef = useRef<HTMLFormElement>(null);
  const [isAtField, setAtField] = useState(false);
  const findError = useCallback(
    (pointer: string, hasLines: boolean) => errorAt(cause, pointer, t, hasLines),
    [cause, t],
  );
  useEffect(() => {
    if (cause === null) return;
    const field = formRef.current?.querySelector<HTMLElement>("[aria-invalid=true]") ?? null;
    setAtField(field !== null);
    field?.focus();
    // A long form may be scrolled to anywhere.
    (field ?? formRef.current?.lastElementChild)?.scrollIntoView({ block: "center" });
  }, [cause]);
  return { formRef, isAtField, findError };
}

/**
 * A dialog with one form, a button that submits it, and the error message of `onSubmit`. Errors of fields with a
 * `pointer` are shown at them, and the first of them is focused.
 */
export function FormDialog({
  title,
  action,
  variant = "primary",
  width,
  keepsText,
  isDisabled = false,
  error = null,
  onSubmit,
  onClose,
  children,
}: Pick<ComponentProps<typeof Dialog>, "title" | "width" | "keepsText" | "onClose"> & {
  /** Label of the button that submits. */
  action: string;
  variant?: "primary" | "danger";
  isDisabled?: boolean;
  /** Error of the fields; shown unless the last submit has failed. */
  error?: string | null;
  /** Submits the form. If it throws, the dialog stays open and shows the error. */
  onSubmit: (form: FormData) => void | Promise<void>;
  /** The fields. */
  children: ReactNode;
}) {
  const { t } = useTexts();
  const formId = useId();
  const { error: failure, cause, isBusy, run } = useAction();
  const { formRef, isAtField, findError } = useFieldErrors(cause);
  const shown = failure !== null && isAtField ? t("error.fields") : (failure ?? error);
  return (
    <Dialog
      title={title}
      {...(width === undefined ? {} : { width })}
      {...(keepsText === undefined ? {} : { keepsText })}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button type="submit" form={formId} variant={variant} isBusy={isBusy} disabled={isDisabled}>
            {action}
          </Button>
        </>
      }
    >
      <form
        ref={formRef}
        id={formId}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || isDisabled || isBusy) return;
          event.preventDefault();
          event.currentTarget.requestSubmit();
        }}
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          void run(async () => onSubmit(form));
        }}
        className="flex flex-col gap-4 p-4"
      >
        <FieldErrors value={findError}>{children}</FieldErrors>
        <FormError error={shown} isAtField={isAtField} />
      </form>
    </Dialog>
  );
}

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
