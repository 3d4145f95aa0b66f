import { Link } from "@tanstack/react-router";
import { AtSign } from "lucide-react";
import { useEffect } from "react";
import type { Mention } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { Ago } from "../ui/ago.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { usePeople } from "./use-names.ts";
import { useProject } from "./use-session.ts";

/** The notes that are for whoever is signed in; each leads to its ticket. */
export default function MentionsDialog({
  mentions,
  onRead,
  onClose,
}: {
  mentions: readonly Mention[];
  onRead: () => void;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const { nameOf } = usePeople();
  const here = useProject();
  useEffect(onRead, [onRead]);
  return (
    <Dialog title={t("mentions.title")} onClose={onClose}>
      {mentions.length === 0 ? (
        <EmptyState icon={AtSign} title={t("mentions.none")} text={t("mentions.noneText")} />
      ) : (
        <ul className="divide-y divide-line">
          {mentions.map(({ actor, at, author, id, project, subject, text, ticketId }, index) => (
            <li key={id}>
              <Link
                to="/$project/inbox/$view/$ticketId"
                params={{ project, view: "all", ticketId }}
                onClick={onClose}
                data-autofocus={index === 0 ? "" : undefined}
                className="block px-4 py-2.5 hover:bg-hover focus-visible:-outline-offset-2"
              >
                <span className="flex items-baseline justify-between gap-3">
                  <span dir="auto" className="truncate text-sm font-medium">
                    {subject === "" ? t("ticket.noSubject") : subject}
                  </span>
                  {project !== here && (
                    <span className="ml-auto shrink-0 text-xs text-muted">
                      <bdi>{project}</bdi>
                    </span>
                  )}
                  <Ago time={at} className="shrink-0 text-xs text-faint" />
                </span>
                <span className="mt-0.5 line-clamp-2 text-sm text-muted wrap-anywhere" dir="auto">
                  <span className="font-medium">{author ?? nameOf(actor)}:</span> {text}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}
