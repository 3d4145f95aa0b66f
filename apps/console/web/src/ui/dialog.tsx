import { useBlocker } from "@tanstack/react-router";
import { X } from "lucide-react";
import { createElement, lazy, Suspense, useEffect, useId, useRef, useState } from "react";
import type { ComponentType, FunctionComponent, ReactNode, Ref } from "react";
import { useTexts } from "../i18n/texts.ts";
import { Button } from "./button.tsx";

/**
 * The element that is focused first: one with `data-autofocus`, otherwise the first field, otherwise the first button
 * of the footer.
 */
const FIRST = [
  "[data-autofocus]",
  ":is(input, textarea, [role=combobox]):not([type=hidden], [readonly], :disabled)",
  "footer button:not(:disabled)",
] as const;

/** Returns true for a field of a form, unlike a search field. */
const isOfForm = (target: EventTarget) =>
  (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) && target.form !== null;

const WIDTHS = { small: "max-w-md", normal: "max-w-xl", wide: "max-w-4xl" } as const;

/**
 * Opens a modal dialog while the component is mounted, and asks before text typed into a form is discarded: by closing it,
 * by the Back button, or by a reload. Submitting a form may lead to another page.
 */
function useModal(onClose: () => void, keepsText: boolean) {
  const ref = useRef<HTMLDialogElement>(null);
  const keepWriting = useRef<HTMLButtonElement>(null);
  const writtenIn = useRef<Element | null>(null);
  const isTyped = useRef(false);
  const [isAsking, setAsking] = useState(false);
  const asksFirst = () => isTyped.current && !keepsText;
  const blocker = useBlocker({ shouldBlockFn: asksFirst, enableBeforeUnload: asksFirst, withResolver: true });
  const ask = () => {
    if (!isAsking) writtenIn.current = document.activeElement;
    setAsking(true);
  };
  useEffect(() => {
    if (blocker.status === "blocked") ask();
  }, [blocker.status]);
  useEffect(() => {
    if (isAsking) keepWriting.current?.focus();
  }, [isAsking]);
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    dialog?.showModal();
    // The browser would focus the first button, which closes the dialog.
    FIRST.map((selector) => dialog?.querySelector<HTMLElement>(selector))
      .find((element) => element != null)
      ?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return {
    ref,
    keepWriting,
    isAsking,
    onInput: (target: EventTarget) => {
      if (isOfForm(target)) isTyped.current = true;
    },
    onSubmit: () => {
      isTyped.current = false;
    },
    leave: () => (asksFirst() ? ask() : onClose()),
    discard: () => {
      isTyped.current = false;
      onClose();
      if (blocker.status === "blocked") blocker.proceed();
    },
    goOn: () => {
      if (blocker.status === "blocked") blocker.reset();
      setAsking(false);
      if (writtenIn.current instanceof HTMLElement) writtenIn.current.focus();
    },
  };
}

/** A dialog's title, and the button that closes it. */
function DialogHead({
  id,
  title,
  isHidden,
  onClose,
}: {
  id: string;
  title: string;
  isHidden: boolean;
  onClose: () => void;
}) {
  const { t } = useTexts();
  return (
    <header
      className={isHidden ? "sr-only" : "flex items-center justify-between gap-4 border-b border-line px-4 py-2.5"}
    >
      <h2 id={id} className="text-base font-semibold">
        {title}
      </h2>
      {!isHidden && (
        <button
          type="button"
          aria-label={t("ui.close")}
          title={t("ui.close")}
          onClick={onClose}
          className="-mr-1 flex size-8 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
        >
          <X aria-hidden className="size-4" />
        </button>
      )}
    </header>
  );
}

/** Asks whether to discard typed text. */
function DiscardBar({
  ref,
  onDiscard,
  onKeep,
}: {
  ref: Ref<HTMLButtonElement>;
  onDiscard: () => void;
  onKeep: () => void;
}) {
  const { t } = useTexts();
  return (
    <div role="alert" className="flex flex-wrap items-center gap-2 border-t border-line bg-warn-soft px-4 py-3">
      <p className="min-w-0 flex-1 text-sm">{t("ui.discardText")}</p>
      <Button onClick={onDiscard}>{t("ui.discard")}</Button>
      <Button ref={ref} variant="primary" onClick={onKeep}>
        {t("ui.keepWriting")}
      </Button>
    </div>
  );
}

/**
 * A dialog over the page: the browser's own element, which traps the focus, closes with Escape or a click outside, and
 * restores the focus. It is open while the component is mounted. After text was typed into a form in it, Escape,
 * clicks outside, the Back button and a reload ask first.
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
  /** True if the content needs no visible title. */
  hidesTitle?: boolean;
  width?: keyof typeof WIDTHS;
  /** True if typed text is restored when the dialog is opened again. */
  keepsText?: boolean;
  onClose: () => void;
  children: ReactNode;
  footer?: ReactNode;
}) {
  const titleId = useId();
  const { ref, keepWriting, isAsking, onInput, onSubmit, leave, discard, goOn } = useModal(onClose, keepsText);
  return (
    <dialog
      ref={ref}
      tabIndex={-1}
      aria-labelledby={titleId}
      onInput={({ target }) => onInput(target)}
      onSubmit={onSubmit}
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        leave();
      }}
      // Browsers close the dialog at the second Escape in a row, even if the first one was prevented.
      onClose={({ currentTarget }) => {
        if (currentTarget.open) return;
        currentTarget.showModal();
        leave();
      }}
      // A click outside the dialog is one on its backdrop, which is the element itself.
      onPointerDown={(event) => event.target === event.currentTarget && leave()}
      className={`animate-appear outline-none mx-auto mt-[10vh] max-h-[80vh] w-[calc(100vw-2rem)] overflow-hidden rounded-xl border border-line bg-raised p-0 shadow-pop backdrop:bg-shade ${WIDTHS[width]}`}
    >
      <div className="flex max-h-[80vh] flex-col">
        <DialogHead id={titleId} title={title} isHidden={hidesTitle} onClose={leave} />
        <div data-dialog-body tabIndex={0} className="min-h-0 flex-1 overflow-y-auto focus-visible:-outline-offset-2">
          {children}
        </div>
        {isAsking && <DiscardBar ref={keepWriting} onDiscard={discard} onKeep={goOn} />}
        {footer !== undefined && !isAsking && (
          <footer className="flex flex-wrap items-center justify-end gap-2 border-t border-line px-4 py-3">
            {footer}
          </footer>
        )}
      </div>
    </dialog>
  );
}

/** Asks for confirmation. The button is busy until the promise of `onConfirm`, which reports its own errors, resolves. */
export function ConfirmDialog({
  title,
  action,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  /** Label of the button that confirms. */
  action: string;
  onConfirm: () => void | Promise<void>;
  onClose: () => void;
  children: ReactNode;
}) {
  const { t } = useTexts();
  const [isBusy, setBusy] = useState(false);
  async function confirm() {
    setBusy(true);
    await onConfirm();
    setBusy(false);
  }
  return (
    <Dialog
      title={title}
      width="small"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button variant="danger" isBusy={isBusy} onClick={() => void confirm()}>
            {action}
          </Button>
        </>
      }
    >
      <div className="p-4 text-sm">{children}</div>
    </Dialog>
  );
}

/** Opens the element as a modal dialog while it is mounted; the focus then returns to the previous element. */
function keepOpen(dialog: HTMLDialogElement) {
  dialog.showModal();
  return () => dialog.close();
}

/**
 * Returns a dialog whose script is loaded when it first opens. Until then an empty modal dialog receives the keyboard:
 * keys typed for the dialog must not run as commands.
 */
export function lazyDialog<Props extends object>(load: () => Promise<ComponentType<Props>>): FunctionComponent<Props> {
  const Loaded: ComponentType<Props> = lazy(async () => ({ default: await load() }));
  return (props) => (
    <Suspense fallback={<dialog ref={keepOpen} className="opacity-0 backdrop:bg-transparent" />}>
      {createElement(Loaded, props)}
    </Suspense>
  );
}
