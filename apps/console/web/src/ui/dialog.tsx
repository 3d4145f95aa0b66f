import { X } from "lucide-react";
import { useEffect, useId, useRef } from "react";
import type { ReactNode } from "react";
import { useTexts } from "../i18n/use-texts.ts";
import { IconButton } from "./icon-button.tsx";

const WIDTHS = { small: "max-w-md", normal: "max-w-xl", wide: "max-w-4xl" } as const;

/**
 * A dialog over the page, by the browser's own element: it keeps the focus, ends with Escape, and gives the focus back.
 * It is there as long as the component is.
 */
export function Dialog({
  title,
  hidesTitle = false,
  width = "normal",
  onClose,
  children,
  footer,
}: {
  title: string;
  /** True where the content says by itself what it is. */
  hidesTitle?: boolean;
  width?: keyof typeof WIDTHS;
  onClose: () => void;
  children: ReactNode;
  footer?: ReactNode;
}) {
  const { t } = useTexts();
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // A press beside the dialog is one on its backdrop, which is the element itself.
      onPointerDown={(event) => event.target === event.currentTarget && onClose()}
      className={`animate-appear mx-auto mt-[10vh] max-h-[80vh] w-[calc(100vw-2rem)] overflow-hidden rounded-xl border border-line bg-raised p-0 shadow-pop backdrop:bg-shade ${WIDTHS[width]}`}
    >
      <div className="flex max-h-[80vh] flex-col">
        <header
          className={hidesTitle ? "sr-only" : "flex items-center justify-between gap-4 border-b border-line px-4 py-2.5"}
        >
          <h2 id={titleId} className="text-base font-semibold">
            {title}
          </h2>
          {!hidesTitle && <IconButton icon={X} label={t("ui.close")} onClick={onClose} />}
        </header>
        <div className="min-h-0 flex-1 overflow-y-auto">{children}</div>
        {footer !== undefined && (
          <footer className="flex flex-wrap items-center justify-end gap-2 border-t border-line px-4 py-3">
            {footer}
          </footer>
        )}
      </div>
    </dialog>
  );
}
