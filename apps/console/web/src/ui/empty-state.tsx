import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

/** What is said where there is nothing: what this place is for, and what to do next. */
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
      {children !== undefined && <div className="mt-3 flex flex-wrap justify-center gap-2">{children}</div>}
    </div>
  );
}
