import { Link } from "@tanstack/react-router";
import type { LinkOptions } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import type { ReactNode } from "react";

const WIDTHS = { normal: "max-w-6xl", narrow: "max-w-4xl" } as const;

/** A page that scrolls as a whole: its title and actions, and below them the content. */
export function PageFrame({
  title,
  text,
  back,
  actions,
  width = "normal",
  children,
}: {
  title: ReactNode;
  text?: ReactNode;
  /** A link above the title to the page that this one belongs to. */
  back?: { link: LinkOptions; label: string };
  actions?: ReactNode;
  width?: keyof typeof WIDTHS;
  children: ReactNode;
}) {
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
