import type { VNode } from "preact";
import type { Entry } from "../state.ts";
import { authorOf, EntryBody, viewWords } from "./entry-view.tsx";
import type { PanelContext } from "./panel-context.ts";

/** Messages of one author within this time are grouped. */
const RUN_MS = 5 * 60 * 1000;

/** Returns the view of an entry, from the cache if nothing of it has changed. */
function viewBody(entry: Entry, context: PanelContext): VNode {
  const view = context.shown.get(entry) ?? <EntryBody entry={entry} context={context} />;
  context.shown.set(entry, view);
  return view;
}

/** Renders an entry, after a line for its day or for the first unread message. */
function viewEntry(entry: Entry, before: Entry | undefined, context: PanelContext) {
  const { texts, ui } = context;
  const { key, kind, at } = entry;
  const author = authorOf(entry);
  const isNewDay = before === undefined || new Date(before.at).toDateString() !== new Date(at).toDateString();
  const isFirst = isNewDay || authorOf(before) !== author || at - before.at > RUN_MS;
  return [
    isNewDay && (
      <li key={at} class="divider">
        {texts.day(at)}
      </li>
    ),
    ui.newFrom === key && (
      <li key="new" class="divider new">
        {texts.text("newMessages")}
      </li>
    ),
    <li
      key={key}
      class={isFirst ? kind : `${kind} run`}
      data-part="entry"
      data-kind={kind}
      data-seq={entry.seq}
      data-state={kind === "visitor" ? entry.state : undefined}
      data-author={author}
    >
      {viewBody(entry, context)}
    </li>,
  ];
}

const viewOffer = (name: string, onClick: () => void, part?: string) => (
  <button type="button" data-part={part} onClick={onClick}>
    {name}
  </button>
);

/** Returns the text for a pending answer, or for a person who is typing. */
export const typingText = ({ state: { typist: name }, texts }: PanelContext) =>
  texts.text(name === "" ? "typing" : "typingName", { name });

/** The conversation, with the typing indicator. */
export function MessageList({ context }: { context: PanelContext }) {
  const { state, texts, ui, actions, change, parts } = context;
  const { entries, config, conversation, partial } = state;
  const { rating, person } = config.features;
  const last = entries.at(-1);
  // Suggestions are not shown while the last message is an operator's, which may be a question.
  const isOffering = conversation === "open" && (last === undefined || authorOf(last) !== "operator");
  const isAsked = conversation === "done" || (ui.ratedAt > 0 && isOffering);
  const isRating = state.rating === null ? isAsked : ui.ratedAt === entries.length;
  return (
    <>
      <ol>
        <li>{viewWords(texts.text("greeting"), false, texts)}</li>
        {entries.flatMap((entry, index) => viewEntry(entry, entries[index - 1], context))}
        {partial !== null && <li data-part="partial">{viewWords(partial, true, texts)}</li>}
      </ol>
      {state.isTyping && (
        <p class="typing" data-part="typing">
          <i aria-hidden="true" /> {typingText(context)}
        </p>
      )}
      {rating &&
        isRating &&
        (parts.forms !== undefined ? <parts.forms.Rating context={context} /> : context.need("forms"))}
      {state.line !== "refused" && !state.needsContact && (
        <p class="offers">
          {entries.length === 0 && texts.questions.map((question) => viewOffer(question, () => actions.send(question)))}
          {rating &&
            isOffering &&
            last?.kind === "reply" &&
            state.rating === null &&
            !isRating &&
            viewOffer(texts.text("rateQuestion"), () =>
              context.need("forms", () => change({ ratedAt: entries.length })),
            )}
          {person &&
            isOffering &&
            viewOffer(
              texts.text("person"),
              () => actions.send(texts.text("personMessage"), [], { wantsPerson: true }),
              "person",
            )}
        </p>
      )}
    </>
  );
}
