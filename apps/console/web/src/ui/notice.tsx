import { CircleAlert, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";

const LOOKS = {
  plain: { icon: Info, box: "bg-sunken", sign: "text-muted" },
  warn: { icon: TriangleAlert, box: "bg-warn-soft", sign: "text-warn" },
  bad: { icon: CircleAlert, box: "bg-bad-soft", sign: "text-bad" },
} as const;

/** Something that has to be known here. */
export function Notice({
  look = "plain",
  children,
  action,
}: {
  look?: keyof typeof LOOKS;
  children: ReactNode;
  action?: ReactNode;
}) {
  const { icon: Icon, box, sign } = LOOKS[look];
  return (
    <div className={`flex items-start gap-2.5 rounded-lg px-3 py-2.5 text-sm ${box}`}>
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${sign}`} />
      <div className="min-w-0 flex-1 wrap-anywhere">{children}</div>
      {action}
    </div>
  );
}
