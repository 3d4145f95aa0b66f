import { ArrowDown } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { ReactNode, UIEvent } from "react";
import type { Source, TicketDetail } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { Button } from "../ui/button.tsx";
import { Conversation } from "./conversation.tsx";
import { useHistory } from "./read-ticket.ts";
import { useCustomerTyping } from "./use-presence.ts";

/** Distance from the oldest shown item at which older items are fetched, in pixels. */
const OLDER_WITHIN_PX = 240;
/** Distance from the end at which the view stays at the end when new items arrive, in pixels. */
const END_WITHIN_PX = 80;

/**
 * Keeps the scroll position of the conversation: a ticket opens at its newest item, and older items are inserted above.
 */
function useConversationScroll(ticket: TicketDetail) {
  const { history, hasMore, isLoading, loadOlder } = useHistory(ticket);
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const [hasNewMessages, setNewMessages] = useState(false);
  const showEnd = () => scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  const newest = `${ticket.messages.at(-1)?.id ?? ""} ${ticket.replies.at(-1)?.id ?? ""}`;
  useEffect(() => {
    if (isAtEnd.current) showEnd();
    else setNewMessages(true);
  }, [newest]);

  // Images and drafts that appear later do not push the end out of view, unless the reader has scrolled away from it.
  const content = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
    });
    for (const element of [scroller.current, content.current]) if (element !== null) observer.observe(element);
    return () => observer.disconnect();
  }, []);

  // Older items are inserted above the visible ones, which keep their position.
  const heightBefore = useRef<number | null>(null);
  const showOlder = () => {
    heightBefore.current = scroller.current?.scrollHeight ?? null;
    void loadOlder();
  };
  useLayoutEffect(() => {
    if (isLoading || heightBefore.current === null || scroller.current === null) return;
    scroller.current.scrollTop += scroller.current.scrollHeight - heightBefore.current;
    heightBefore.current = null;
  }, [history, isLoading]);
  const lastTop = useRef(0);
  function onScroll({ currentTarget }: UIEvent) {
    const { clientHeight, scrollHeight, scrollTop } = currentTarget;
    const isUp = scrollTop < lastTop.current;
    lastTop.current = scrollTop;
    const isNearEnd = scrollHeight - scrollTop - clientHeight < END_WITHIN_PX;
    // An image may have loaded since the scroll that this event reports, before the observer has seen it: only scrolling up
    // leaves the end.
    isAtEnd.current = isNearEnd || (isAtEnd.current && !isUp);
    if (isAtEnd.current) setNewMessages(false);
    if (scrollTop < OLDER_WITHIN_PX && hasMore && !isLoading) showOlder();
  }
  return { scroller, content, history, hasMore, isLoading, isAtEnd, hasNewMessages, showEnd, showOlder, onScroll };
}

/** Whether the customer is typing, and a button that shows new messages. */
function ConversationStatus({
  ticket,
  hasNew,
  onShowEnd,
}: {
  ticket: TicketDetail;
  hasNew: boolean;
  onShowEnd: () => void;
}) {
  const { t } = useTexts();
  const isCustomerTyping = useCustomerTyping(ticket.id, ticket.messages.at(-1)?.id);
  return (
    <div role="status" className="relative">
      {isCustomerTyping && (
        <p className="mx-auto max-w-3xl px-5 py-1 text-xs text-muted max-sm:px-3">{t("presence.customerTyping")}</p>
      )}
      {hasNew && (
        <Button
          icon={ArrowDown}
          size="small"
          onClick={onShowEnd}
          className="absolute bottom-2 left-1/2 -translate-x-1/2 shadow-pop"
        >
          {t("ticket.newMessage")}
        </Button>
      )}
    </div>
  );
}

/** The scrolling conversation of a ticket, and below it the field for a reply. */
export function ConversationArea({
  ticket,
  onSource,
  below,
  composer,
}: {
  ticket: TicketDetail;
  onSource: (source: Source) => void;
  /** Below the conversation, scrolling with it. */
  below: ReactNode;
  /** The field for a reply. It calls the function after a reply was sent: the newest item is then shown. */
  composer: (onSent: () => void) => ReactNode;
}) {
  const { t } = useTexts();
  const scroll = useConversationScroll(ticket);
  return (
    <div className="flex min-w-0 flex-1 flex-col">
      <div
        ref={scroll.scroller}
        tabIndex={0}
        role="region"
        aria-label={t("ticket.conversation")}
        onScroll={scroll.onScroll}
        className="min-h-0 flex-1 overflow-y-auto [overflow-anchor:none] focus-visible:-outline-offset-2"
      >
        <div
          ref={scroll.content}
          className="@container mx-auto flex min-h-full max-w-3xl flex-col px-5 pt-5 pb-4 max-sm:px-3"
        >
          {scroll.hasMore && (
            <Button
              variant="quiet"
              size="small"
              isBusy={scroll.isLoading}
              onClick={scroll.showOlder}
              className="mb-3 self-center"
            >
              {t("ticket.older")}
            </Button>
          )}
          <Conversation ticket={ticket} history={scroll.history} onSource={onSource} />
          {below}
        </div>
      </div>
      <ConversationStatus ticket={ticket} hasNew={scroll.hasNewMessages} onShowEnd={scroll.showEnd} />
      {composer(() => {
        scroll.isAtEnd.current = true;
      })}
    </div>
  );
}
