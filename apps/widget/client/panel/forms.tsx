/** @jsxRuntime classic */
/** @jsx h */
// Loaded when one of these forms is first shown, because few visitors need it.
import type { h } from "preact";
import { LIMITS } from "../state.ts";
import type { PanelContext, Parts } from "./panel-context.ts";

type CreateElement = typeof h;

/** The emoji and the string names of the scores 1 to 5. */
const SCORES = [
  ["😞", "rateVeryBad"],
  ["🙁", "rateBad"],
  ["😐", "rateOkay"],
  ["🙂", "rateGood"],
  ["😀", "rateVeryGood"],
] as const;

/** Creates the rating form, which asks how satisfied the visitor is, and thanks for the answer. */
// oxlint-disable-next-line no-unused-vars -- JSX of this file calls it.
function createRating(h: CreateElement) {
  return ({ context: { state, texts, actions, change, say } }: { context: PanelContext }) => (
    <form
      class="form bubble"
      data-part="rating"
      onSubmit={(event) => {
        event.preventDefault();
        const { score, comment } = event.currentTarget.elements as unknown as Record<string, { value: string }>;
        change({ ratedAt: state.entries.length });
        actions.rate(Number(score?.value), comment?.value);
        say(texts.text("rateThanks"));
      }}
    >
      {state.rating !== null
        ? texts.text("rateThanks")
        : [
            <fieldset>
              <legend>{texts.text("rateQuestion")}</legend>
              {SCORES.map(([face, name], index) => (
                <label>
                  <input type="radio" name="score" required value={index + 1} /> <span aria-hidden="true">{face}</span>{" "}
                  {texts.text(name)}
                </label>
              ))}
            </fieldset>,
            <label>
              {texts.text("rateComment")}
              <textarea name="comment" maxLength={LIMITS.commentMaxChars} dir="auto" />
            </label>,
            <button class="primary">{texts.text("rateSend")}</button>,
          ]}
    </form>
  );
}

/**
 * Creates the contact form before the first message. Errors use the browser's validation, which associates them with
 * their field, with the texts of the widget.
 */
// oxlint-disable-next-line no-unused-vars -- JSX of this file calls it.
function createContact(h: CreateElement) {
  return ({ context: { state, texts, actions } }: { context: PanelContext }) => (
    <form
      class="composer form"
      data-part="prechat"
      onSubmit={(event) => {
        event.preventDefault();
        actions.introduce(Object.fromEntries(new FormData(event.currentTarget)));
      }}
    >
      {texts.text("prechatIntro")}
      {state.config.features.prechat.map((field) => (
        <label>
          {texts.text(field === "name" ? "prechatName" : "prechatEmail")}
          <input
            name={field}
            // The attribute types of a field depend on its type.
            type={(field === "name" ? "text" : field) as "email"}
            autocomplete={field}
            required
            // White space alone is not a name.
            pattern=".*\S.*"
            maxLength={field === "name" ? 200 : 320}
            dir="auto"
            data-focus
            onInput={(event) => event.currentTarget.setCustomValidity("")}
            onInvalid={(event) =>
              event.currentTarget.setCustomValidity(
                texts.text(field === "name" ? "prechatNameMissing" : "prechatEmailInvalid"),
              )
            }
          />
        </label>
      ))}
      <button class="primary">{texts.text("prechatStart")}</button>
    </form>
  );
}

/**
 * Returns the forms of the panel, created with the panel's own `h`: a second copy of Preact in this file would number
 * its elements like the first one, and elements with equal numbers are not rendered again.
 */
export const create = (h: CreateElement): Parts["forms"] => ({ Rating: createRating(h), Contact: createContact(h) });
