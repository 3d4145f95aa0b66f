import { CircleAlert, CircleCheck, Info, TriangleAlert, X } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { useEffect, useState } from "react";
import type { ReactNode } from "react";
import { useTexts } from "../i18n/texts.ts";
import { Button, IconButton } from "./button.tsx";
import { createStore, useStore } from "./create-store.ts";
import type { Store } from "./create-store.ts";
import { describeError } from "./describe-error.ts";

const VARIANTS = {
  plain: { icon: Info, box: "bg-sunken", sign: "text-muted" },
  warn: { icon: TriangleAlert, box: "bg-warn-soft", sign: "text-warn" },
  bad: { icon: CircleAlert, box: "bg-bad-soft", sign: "text-bad" },
} as const;

/** A message within the page. */
export function Notice({
  variant = "plain",
  children,
  action,
}: {
  variant?: keyof typeof VARIANTS;
  children: ReactNode;
  action?: ReactNode;
}) {
  const { icon: Icon, box, sign } = VARIANTS[variant];
  return (
    <div className={`flex items-start gap-2.5 rounded-lg px-3 py-2.5 text-sm ${box}`}>
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${sign}`} />
      <div className="min-w-0 flex-1 wrap-anywhere">{children}</div>
      {action}
    </div>
  );
}

/** Describes an error, with a button that retries. */
export function ErrorNotice({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { t } = useTexts();
  return (
    <div
      role="alert"
      className="flex items-start gap-2.5 rounded-lg border border-line bg-bad-soft px-3 py-2.5 text-sm"
    >
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      <p className="min-w-0 flex-1 wrap-anywhere">{describeError(error, t)}</p>
      {onRetry !== undefined && (
        <Button size="small" onClick={onRetry}>
          {t("ui.tryAgain")}
        </Button>
      )}
    </div>
  );
}

/** Shown instead of an empty list: the purpose of the page, and the next step. */
export function EmptyState({
  icon: Icon,
  title,
  text,
  children,
}: {
  icon: LucideIcon;
  title: string;
  text: string;
  children?: ReactNode;
}) {
  return (
    <div className="flex h-full flex-col items-center justify-center gap-1 px-6 py-10 text-center">
      <span className="mb-2 flex size-11 items-center justify-center rounded-xl bg-sunken text-faint">
        <Icon aria-hidden className="size-5" />
      </span>
      <p className="text-base font-semibold">{title}</p>
      <p className="max-w-sm text-sm text-muted">{text}</p>
      {children !== undefined && children !== false && (
        <div className="mt-3 flex flex-wrap justify-center gap-2">{children}</div>
      )}
    </div>
  );
}

/** A placeholder with the size of the loading content. */
export const Skeleton = ({ className }: { className: string }) => (
  <span aria-hidden className={`animate-shimmer block rounded bg-line ${className}`} />
);

/** Placeholders of this many loading rows. */
export const Skeletons = ({ count, className }: { count: number; className: string }) => (
  <div aria-busy className="flex flex-col gap-2">
    {Array.from({ length: count }, (_, row) => (
      <Skeleton key={row} className={className} />
    ))}
  </div>
);

/** The parts of a query's result that `QueryView` shows. */
interface QueryState<Data> {
  data: Data | undefined;
  error: unknown;
  isPending: boolean;
  refetch: () => Promise<unknown>;
}

/**
 * The result of a query: the skeleton while it loads, its error with a button that retries, and the view that
 * `children` returns for its data.
 */
export function QueryView<Data>({
  query: { data, error, isPending, refetch },
  skeleton,
  children,
}: {
  query: QueryState<Data>;
  /** Classes of the skeleton, or another placeholder. */
  skeleton: string | ReactNode;
  children: (data: Data) => ReactNode;
}) {
  return (
    <>
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && (typeof skeleton === "string" ? <Skeleton className={skeleton} /> : skeleton)}
      {data !== undefined && children(data)}
    </>
  );
}

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
