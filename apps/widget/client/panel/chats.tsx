/** @jsxRuntime classic */
/** @jsx h */
// Loaded when the list of conversations is first opened, because few visitors need it.
import type { h } from "preact";
import type { WidgetConversation, WidgetConversationsAnswer } from "@svc/contracts";
import { LIMITS } from "../state.ts";
import type { FileAccess } from "../state.ts";
import type { PanelContext, Parts } from "./panel-context.ts";

type CreateElement = typeof h;

/** Fetches the visitor's conversations, newest first. Rejects if the server does not return them. */
async function fetchChats({ base, headers }: FileAccess): Promise<WidgetConversation[]> {
  const response = await fetch(`${base}api/widget/conversations`, { headers, credentials: "omit" });
  if (!response.ok) throw new Error(String(response.status));
  return ((await response.json()) as WidgetConversationsAnswer).items;
}

/** Creates the list of the visitor's conversations, with the panel's own `h`, like the forms. */
// oxlint-disable-next-line no-unused-vars -- JSX of this file calls it.
export function create(h: CreateElement): Parts["chats"] {
  /** Null until they have loaded; undefined if they could not be loaded. */
  let chats: WidgetConversation[] | null | undefined = null;
  /** The opening of the list for which they were fetched. */
  let fetchedFor: object | null = null;

  async function fetchFor(context: PanelContext): Promise<void> {
    const { listing } = context.ui;
    const fetched = await fetchChats(context.actions.fileAccess()).catch(() => undefined);
    // Meanwhile the list was closed, or belongs to another visitor.
    if (context.ui.listing !== listing) return;
    chats = fetched;
    context.change({});
  }

  return {
    /** The list: each opening fetches it again. */
    viewChats(context: PanelContext) {
      const { state, texts, ui, actions, change } = context;
      if (fetchedFor !== ui.listing) {
        fetchedFor = ui.listing;
        chats = null;
        void fetchFor(context);
      }
      const open = (conversation: number) => {
        const isWritten = conversation !== state.chat && (ui.text.trim() !== "" || ui.files.length > 0);
        if (!isWritten && actions.openChat(conversation)) change({ listing: null });
        else change({ fault: "chatsUnsent" });
      };
      const next = Math.max(0, ...(chats ?? []).map(({ conversation }) => conversation)) + 1;
      if (chats === null) return <p>{texts.text("connecting")}</p>;
      if (chats === undefined) return <p class="fault">{texts.text("faultOther")}</p>;
      return (
        <div class="chats" data-part="chats">
          {ui.fault !== null && (
            <p class="fault" role="alert">
              {texts.text(ui.fault)}
            </p>
          )}
          {chats.map(({ conversation, author, text, markdown, at, unread }) => (
            <button
              type="button"
              class={unread ? "unread" : ""}
              data-part="chat"
              aria-current={conversation === state.chat}
              onClick={() => open(conversation)}
            >
              <small>
                {texts.text(author === "visitor" ? "you" : author)} · {texts.day(Date.parse(at))},{" "}
                {texts.time(Date.parse(at))}
              </small>
              <span dir="auto">{markdown ? context.plain(text) : text}</span>
            </button>
          ))}
          {next <= LIMITS.conversationsMaxCount && (
            <button type="button" class="primary" data-part="newChat" onClick={() => open(next)}>
              {texts.text("newChat")}
            </button>
          )}
        </div>
      );
    },
  };
}
