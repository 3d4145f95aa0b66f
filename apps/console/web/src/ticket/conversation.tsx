import { memo, useMemo } from "react";
import type { Source, TicketDetail } from "@svc/contracts";
import { usePeople } from "../app/use-names.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { buildTimeline } from "./build-timeline.ts";
import type { History } from "./merge-history.ts";
import { EventLine } from "./event-line.tsx";
import { MessageView } from "./message-view.tsx";
import { NoteView } from "./note-view.tsx";
import { ReplyView } from "./reply-view.tsx";

/** What was said and decided, as the customer sees it, with the notes that the customer does not see. */
export const Conversation = memo(function Conversation({
  ticket,
  history: { events, messages, replies },
  onSource,
}: {
  ticket: TicketDetail;
  history: History;
  onSource: (source: Source) => void;
}) {
  const { day } = useTexts();
  const { nameOf } = usePeople();
  const entries = useMemo(
    () => buildTimeline({ messages, replies, events }, (time) => new Date(time).toDateString()),
    [messages, replies, events],
  );
  return (
    <ol className="flex flex-col gap-3">
      {entries.map((entry) => (
        <li key={entry.key}>
          {entry.kind === "day" && (
            <p className="flex items-center gap-3 py-1 text-2xs font-medium text-faint before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
              {day(entry.at)}
            </p>
          )}
          {entry.kind === "message" && <MessageView ticket={ticket} message={entry.message} />}
          {entry.kind === "reply" && <ReplyView reply={entry.reply} ticket={ticket} onSource={onSource} />}
          {entry.kind === "note" && <NoteView name={nameOf(entry.actor)} at={entry.at} text={entry.text} />}
          {entry.kind === "event" && <EventLine event={entry.event} nameOf={nameOf} />}
        </li>
      ))}
    </ol>
  );
});
