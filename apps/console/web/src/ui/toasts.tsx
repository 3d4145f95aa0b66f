import { CircleAlert, CircleCheck, X } from "lucide-react";
import { useEffect, useState } from "react";
import { useTexts } from "../i18n/texts.ts";
import { IconButton } from "./button.tsx";
import { createStore, useStore } from "./create-store.ts";
import type { Store } from "./create-store.ts";

/** A toast. */
interface Toast {
  id: number;
  kind: "done" | "error";
  text: string;
  /** An action, such as undo. */
  action?: { label: string; run: () => void };
}

/** The shown toasts. */
export interface Toasts {
  shown: Store<readonly Toast[]>;
  show: (toast: Omit<Toast, "id">) => void;
  dismiss: (id: number) => void;
}

/** Maximum number of shown toasts; the newest ones. */
const SHOWN_MAX_COUNT = 3;

/** Creates an empty list of toasts. */
export function createToasts(): Toasts {
  const shown = createStore<readonly Toast[]>([]);
  let lastId = 0;
  return {
    shown,
    show(toast) {
      lastId += 1;
      const added = { ...toast, id: lastId };
      shown.set((toasts) => [...toasts, added].slice(-SHOWN_MAX_COUNT));
    },
    dismiss: (id) => shown.set((toasts) => toasts.filter((toast) => toast.id !== id)),
  };
}

/** Time until a toast is hidden; longer if it has an action. None is hidden while it is hovered or focused. */
const SHOWN_MS = { done: 5_000, error: 9_000, action: 9_000 } as const;

function ToastView({ toast, toasts }: { toast: Toast; toasts: Toasts }) {
  const { t } = useTexts();
  const [isHeld, setHeld] = useState(false);
  const { id, kind, text, action } = toast;
  useEffect(() => {
    if (isHeld) return undefined;
    const timer = setTimeout(() => toasts.dismiss(id), SHOWN_MS[action === undefined ? kind : "action"]);
    return () => clearTimeout(timer);
  }, [isHeld, id, kind, action, toasts]);
  const Icon = kind === "done" ? CircleCheck : CircleAlert;
  return (
    <li
      className="animate-appear flex w-full max-w-md items-start sm:w-auto gap-2.5 rounded-lg border border-line bg-raised px-3 py-2"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${kind === "done" ? "text-ok" : "text-bad"}`} />
      <span className="min-w-0 flex-1 text-sm wrap-anywhere">{text}</span>
      {action !== undefined && (
        <button
          type="button"
          className="-my-0.5 shrink-0 rounded px-1.5 py-0.5 text-sm font-semibold text-accent hover:bg-accent-soft"
          onClick={() => {
            toasts.dismiss(id);
            action.run();
          }}
        >
          {action.label}
        </button>
      )}
      <IconButton icon={X} label={t("ui.close")} size="small" onClick={() => toasts.dismiss(id)} />
    </li>
  );
}

/**
 * The toasts, announced to screen readers. They are part of the layout below the preceding element instead of covering
 * it, so that they hide nothing in use.
 */
export function ToastList({ toasts }: { toasts: Toasts }) {
  const { t } = useTexts();
  const shown = useStore(toasts.shown);
  return (
    <section aria-label={t("ui.notifications")} aria-live="polite" className="shrink-0 bg-page">
      <ol className="flex flex-wrap justify-center gap-2 border-line p-2 not-empty:border-y empty:p-0">
        {shown.map((toast) => (
          <ToastView key={toast.id} toast={toast} toasts={toasts} />
        ))}
      </ol>
    </section>
  );
}
