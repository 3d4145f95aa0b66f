import { X } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import type { InputEvent, ReactNode } from "react";
import { useTexts } from "../i18n/texts.ts";
import { Button } from "./button.tsx";

/** What has the focus first: what says so, else the first field, else the first button below. */
const FIRST = [
  "[data-autofocus]",
  ":is(input, textarea, select):not([type=hidden], [readonly], :disabled)",
  "footer button:not(:disabled)",
] as const;

/** True for a field of a form; what is typed to find something is none. */
const isOfForm = (target: EventTarget) =>
  (target instanceof HTMLInputElement ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement) &&
  target.form !== null;

const WIDTHS = { small: "max-w-md", normal: "max-w-xl", wide: "max-w-4xl" } as const;

/**
 * A dialog over the page, by the browser's own element: it keeps the focus, ends with Escape or a press beside it, and
 * gives the focus back. It is there as long as the component is. Once something was typed into a form in it, Escape and
 * presses beside it ask first.
 */
export function Dialog({
  title,
  hidesTitle = false,
  width = "normal",
  keepsText = false,
  onClose,
  children,
  footer,
}: {
  title: string;
  /** True where the content says by itself what it is. */
  hidesTitle?: boolean;
  width?: keyof typeof WIDTHS;
  /** True where what was typed is there again when the dialog is. */
  keepsText?: boolean;
  onClose: () => void;
  children: ReactNode;
  footer?: ReactNode;
}) {
  const { t } = useTexts();
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const isTyped = useRef(false);
  const [isAsking, setAsking] = useState(false);
  const keepWriting = useRef<HTMLButtonElement>(null);
  const writtenIn = useRef<Element | null>(null);
  function goOn() {
    setAsking(false);
    if (writtenIn.current instanceof HTMLElement) writtenIn.current.focus();
  }
  function leave() {
    if (!isTyped.current || keepsText) {
      onClose();
      return;
    }
    if (!isAsking) writtenIn.current = document.activeElement;
    setAsking(true);
  }
  function note({ target }: InputEvent<HTMLDialogElement>) {
    if (isOfForm(target)) isTyped.current = true;
  }
  useEffect(() => {
    if (isAsking) keepWriting.current?.focus();
  }, [isAsking]);
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    dialog?.showModal();
    // The browser would take the first button, which closes it: what the dialog is for comes first.
    FIRST.map((selector) => dialog?.querySelector<HTMLElement>(selector))
      .find((element) => element != null)
      ?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      tabIndex={-1}
      aria-labelledby={titleId}
      onInput={note}
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        leave();
      }}
      // Browsers close it at the second Escape in a row, whatever was answered to the first one.
      onClose={({ currentTarget }) => {
        if (currentTarget.open) return;
        currentTarget.showModal();
        leave();
      }}
      // A press beside the dialog is one on its backdrop, which is the element itself.
      onPointerDown={(event) => event.target === event.currentTarget && leave()}
      className={`animate-appear outline-none mx-auto mt-[10vh] max-h-[80vh] w-[calc(100vw-2rem)] overflow-hidden rounded-xl border border-line bg-raised p-0 shadow-pop backdrop:bg-shade ${WIDTHS[width]}`}
    >
      <div className="flex max-h-[80vh] flex-col">
        <header
          className={
            hidesTitle ? "sr-only" : "flex items-center justify-between gap-4 border-b border-line px-4 py-2.5"
          }
        >
          <h2 id={titleId} className="text-base font-semibold">
            {title}
          </h2>
          {!hidesTitle && (
            <button
              type="button"
              aria-label={t("ui.close")}
              title={t("ui.close")}
              onClick={leave}
              className="-mr-1 flex size-8 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
            >
              <X aria-hidden className="size-4" />
            </button>
          )}
        </header>
        <div data-dialog-body tabIndex={0} className="min-h-0 flex-1 overflow-y-auto focus-visible:-outline-offset-2">
          {children}
        </div>
        {isAsking && (
          <div role="alert" className="flex flex-wrap items-center gap-2 border-t border-line bg-warn-soft px-4 py-3">
            <p className="min-w-0 flex-1 text-sm">{t("ui.discardText")}</p>
            <Button onClick={onClose}>{t("ui.discard")}</Button>
            <Button ref={keepWriting} look="primary" onClick={goOn}>
              {t("ui.keepWriting")}
            </Button>
          </div>
        )}
        {footer !== undefined && !isAsking && (
          <footer className="flex flex-wrap items-center justify-end gap-2 border-t border-line px-4 py-3">
            {footer}
          </footer>
        )}
      </div>
    </dialog>
  );
}

/** Asks before something that cannot be undone. */
export function ConfirmDialog({
  title,
  action,
  isBusy = false,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  /** What the button says that does it. */
  action: string;
  isBusy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  const { t } = useTexts();
  return (
    <Dialog
      title={title}
      width="small"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button look="danger" isBusy={isBusy} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      <div className="p-4 text-sm">{children}</div>
    </Dialog>
  );
}
