import { Link } from "@tanstack/react-router";
import type { LinkOptions, ErrorComponentProps } from "@tanstack/react-router";
import { ArrowLeft, Compass, TriangleAlert } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { useEffect, useSyncExternalStore } from "react";
import { useTexts } from "../i18n/texts.ts";
import { Button } from "./button.tsx";
import { describeError } from "./describe-error.ts";
import { EmptyState, Skeleton } from "./notice.tsx";

/** Same breakpoint as `lg:` in the styles: list and ticket are side by side. */
const query = globalThis.matchMedia("(min-width: 64rem)");

const subscribe = (listener: () => void) => {
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
};

/** Returns true if the window has space for the list and a ticket. */
export const useIsWide = (): boolean => useSyncExternalStore(subscribe, () => query.matches);

/**
 * Names a page in the title of its window while it is shown, so that tabs and the history can be told apart (WCAG 2.2,
 * 2.4.2).
 */
export function usePageTitle(title: string): void {
  useEffect(() => {
    const before = document.title;
    document.title = title === "" ? "Console" : `${title} · Console`;
    return () => {
      document.title = before;
    };
  }, [title]);
}

/** Shown instead of a page that cannot be rendered. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const { t } = useTexts();
  usePageTitle(t("error.title"));
  return (
    <EmptyState icon={TriangleAlert} title={t("error.title")} text={describeError(error, t)}>
      <Button onClick={reset}>{t("ui.tryAgain")}</Button>
      <Button onClick={() => location.reload()}>{t("error.reload")}</Button>
    </EmptyState>
  );
}

/** Shown for an unknown path. */
export function MissingPage() {
  const { t } = useTexts();
  usePageTitle(t("missing.title"));
  return (
    <EmptyState icon={Compass} title={t("missing.title")} text={t("missing.text")}>
      <Link to="/" className="text-sm font-medium text-accent underline">
        {t("missing.home")}
      </Link>
    </EmptyState>
  );
}

/** Skeleton of a page whose script or data is loading. */
export const PageSkeleton = () => (
  <div aria-busy className="flex h-full flex-col gap-3 p-5">
    <Skeleton className="h-5 w-44" />
    <Skeleton className="h-4 w-72" />
    {[0, 1, 2, 3, 4, 5].map((row) => (
      <Skeleton key={row} className="h-12 w-full" />
    ))}
  </div>
);

const WIDTHS = { normal: "max-w-6xl", narrow: "max-w-4xl" } as const;

/** A page that scrolls as a whole: its title and actions, and below them the content. */
export function PageFrame({
  title,
  windowTitle = typeof title === "string" ? title : "",
  text,
  back,
  actions,
  width = "normal",
  children,
}: {
  title: ReactNode;
  /** Default: the title, if it is a text. */
  windowTitle?: string;
  text?: ReactNode;
  /** A link above the title to the page that this one belongs to. */
  back?: { link: LinkOptions; label: string };
  actions?: ReactNode;
  width?: keyof typeof WIDTHS;
  children: ReactNode;
}) {
  usePageTitle(windowTitle);
  return (
    <div className="h-full overflow-y-auto bg-page">
      <div className={`mx-auto px-4 pt-5 pb-12 sm:px-6 lg:px-8 lg:pt-7 ${WIDTHS[width]}`}>
        {back !== undefined && (
          <Link
            {...back.link}
            className="mb-2 -ml-1 inline-flex items-center gap-1 rounded-md px-1 text-sm text-muted hover:text-ink"
          >
            <ArrowLeft aria-hidden className="size-4" />
            {back.label}
          </Link>
        )}
        <header className="mb-5 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
          <div className="min-w-0">
            <h1 className="text-xl font-semibold tracking-tight wrap-anywhere">{title}</h1>
            {text !== undefined && <p className="mt-0.5 max-w-2xl text-sm text-muted">{text}</p>}
          </div>
          {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </header>
        {children}
      </div>
    </div>
  );
}

/** A part of a page with its own title. */
export function Section({
  title,
  text,
  actions,
  children,
}: {
  title: string;
  text?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="rounded-xl border border-line bg-surface">
      <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 px-4 pt-3.5 sm:px-5">
        <div className="min-w-0">
          <h2 className="text-base font-semibold">{title}</h2>
          {text !== undefined && <p className="mt-0.5 max-w-xl text-sm text-muted">{text}</p>}
        </div>
        {actions}
      </header>
      <div className="px-4 pt-3 pb-4 sm:px-5">{children}</div>
    </section>
  );
}

/** An entry of a list of cards: all of it is a link. */
export function LinkCard({
  icon: Icon,
  title,
  link,
  text,
  isWhole = false,
  beside,
  children,
}: {
  icon: LucideIcon;
  title: string;
  link: LinkOptions;
  text: ReactNode;
  /** Shows a long title or text in full. */
  isWhole?: boolean;
  /** A badge beside the title, or a control, which is placed above the link (`relative z-10`). */
  beside?: ReactNode;
  children: ReactNode;
}) {
  return (
    <li className="relative flex flex-col rounded-xl border border-line bg-surface p-4 transition-colors hover:border-edge">
      <div className="flex items-start gap-3">
        <span className="flex size-9 shrink-0 items-center justify-center rounded-lg bg-accent-soft text-accent">
          <Icon aria-hidden className="size-4.5" />
        </span>
        <div className="min-w-0 flex-1">
          <h2 className={`text-base font-semibold ${isWhole ? "" : "truncate"}`} dir="auto">
            <Link {...link} className="rounded-sm after:absolute after:inset-0 after:rounded-xl">
              {title}
            </Link>
          </h2>
          <p className={`text-sm text-muted ${isWhole ? "" : "line-clamp-2"}`} dir="auto">
            {text}
          </p>
        </div>
        {beside}
      </div>
      {children}
    </li>
  );
}
