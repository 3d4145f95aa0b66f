import type { PanelContext } from "./panel-context.ts";

/**
 * Asks before the first message who writes. What is wrong is said by the browser, which ties it to its field, in the
 * words of the widget.
 */
export const ContactForm = ({ context: { state, texts, actions } }: { context: PanelContext }) => (
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
          // The types of a field's attributes are apart by its type.
          type={(field === "name" ? "text" : field) as "email"}
          autocomplete={field}
          required
          // White space alone is no name.
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
