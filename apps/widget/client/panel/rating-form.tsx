import { LIMITS } from "../limits.ts";
import type { PanelContext } from "./panel-context.ts";

/** The names of the scores 1 to 5. */
const SCORES = ["rateVeryBad", "rateBad", "rateOkay", "rateGood", "rateVeryGood"];

/** Asks how satisfied the visitor is, and thanks for the answer. */
export const RatingForm = ({ context: { state, texts, actions, change, say } }: { context: PanelContext }) => (
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
    {state.rating !== null ? (
      texts.text("rateThanks")
    ) : (
      <>
        <fieldset>
          <legend>{texts.text("rateQuestion")}</legend>
          {SCORES.map((name, index) => (
            <label>
              <input type="radio" name="score" required value={index + 1} /> {texts.text(name)}
            </label>
          ))}
        </fieldset>
        <label>
          {texts.text("rateComment")}
          <textarea name="comment" maxLength={LIMITS.commentMaxChars} dir="auto" />
        </label>
        <button class="primary">{texts.text("rateSend")}</button>
      </>
    )}
  </form>
);
