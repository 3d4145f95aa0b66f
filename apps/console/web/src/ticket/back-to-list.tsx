import { Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { useInbox } from "../inbox/inbox-context.ts";

/** The way back to the list, where that is not beside the ticket. */
export function BackToList() {
  const { t } = useTexts();
  const project = useProject();
  const { view, search } = useInbox();
  return (
    <Link
      to="/$project/inbox/$view"
      params={{ project, view }}
      search={search}
      aria-label={t("ticket.back")}
      className="-ml-1.5 flex size-8 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover lg:hidden"
    >
      <ArrowLeft aria-hidden className="size-4.5" />
    </Link>
  );
}
