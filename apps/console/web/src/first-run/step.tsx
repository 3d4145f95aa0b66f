import { Check } from "lucide-react";
import { useId } from "react";
import type { ReactNode } from "react";
import { useTexts } from "../i18n/texts.ts";

/** A step of the guide: its purpose, its actions, and whether it is done. */
export function Step({
  number,
  title,
  text,
  isDone,
  done,
  children,
}: {
  number: number;
  title: string;
  text: string;
  /** Undefined while unknown. */
  isDone: boolean | undefined;
  /** Text for a finished step. */
  done: string;
  children: ReactNode;
}) {
  const { t } = useTexts();
  const titleId = useId();
  return (
    <li className="rounded-xl border border-line bg-surface p-4 sm:p-5">
      <section
        aria-labelledby={titleId}
        className="flex items-start gap-3.5 max-sm:flex-col max-sm:items-stretch max-sm:gap-2"
      >
        <span
          aria-hidden
          className={`flex size-8 shrink-0 items-center justify-center rounded-full text-sm font-semibold ${
            isDone === true ? "bg-ok-soft text-ok" : "bg-accent-soft text-accent"
          }`}
        >
          {isDone === true ? <Check className="size-4.5" /> : number}
        </span>
        <div className="min-w-0 flex-1">
          <h2 id={titleId} className="text-base font-semibold">
            {title}
          </h2>
          <p className="mt-0.5 max-w-xl text-sm text-muted">{text}</p>
          <p role="status" className={isDone === true ? "mt-2 text-sm font-medium text-ok" : "sr-only"}>
            {isDone === true ? done : isDone === false ? t("firstRun.open") : ""}
          </p>
          <div className="mt-3">{children}</div>
        </div>
      </section>
    </li>
  );
}
