import { useId } from "react";
import type { ComponentProps, ReactNode } from "react";
import { useTexts } from "../i18n/texts.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useAction } from "./use-action.ts";

/** The error of a form as a whole. The element exists before it has a text, so that screen readers announce it. */
export const FormError = ({ error }: { error: string | null }) => (
  <p role="alert" className="text-sm wrap-anywhere text-bad empty:hidden">
    {error}
  </p>
);

/** A dialog with one form, a button that submits it, and the error message of `onSubmit`. */
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
  const { error: failure, isBusy, run } = useAction();
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
        {children}
        <FormError error={failure ?? error} />
      </form>
    </Dialog>
  );
}
