import type { VNode } from "preact";
import type { Entry } from "../state.ts";
import { authorOf, EntryBody, viewWords } from "./entry-view.tsx";
import type { PanelContext } from "./panel-context.ts";

/** Messages of one author within this time are shown as one run. */
const RUN_MS = 5 * 60 * 1000;

/** What an entry says, as it was shown before where nothing of it has changed. */
function viewBody(entry: Entry, context: PanelContext): VNode {
  const view = context.shown.get(entry) ?? <EntryBody entry={entry} context={context} />;
  context.shown.set(entry, view);
  return view;
}

/** An entry, after a line for its day or for the first new message. */
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

/** That an answer is pending, or who writes it. */
export const typingText = ({ state: { typist: name }, texts }: PanelContext) =>
  texts.text(name === "" ? "typing" : "typingName", { name });

/** The conversation, and what is in progress. */
export function MessageList({ context }: { context: PanelContext }) {
  const { state, texts, ui, actions, change, parts } = context;
  const { entries, config, conversation, partial } = state;
  const { rating, person } = config.features;
  const last = entries.at(-1);
  // Nothing is offered in the place of an answer to what a person has asked.
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
