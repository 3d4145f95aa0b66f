import { useState } from "react";
import { useTexts } from "../i18n/texts.ts";
import { useTags } from "../session/services.ts";
import { Field } from "../ui/field.tsx";
import { TagChip } from "../ui/badge.tsx";

/** Parses tags separated by commas. */
export const readTags = (typed: string): string[] =>
  typed
    .split(",")
    .map((tag) => tag.trim().replace(/^#/, ""))
    .filter((tag) => tag !== "");

/** Tags as text, and below it the managed ones, each with a button that adds it. `onChange` receives the text. */
export function TagsField({
  label,
  name,
  before,
  autoFocus = false,
  onChange,
}: {
  label: string;
  name?: string;
  /** The initial tags. */
  before: readonly string[];
  autoFocus?: boolean;
  onChange?: (typed: string) => void;
}) {
  const { t } = useTexts();
  const managed = useTags();
  const [typed, setTyped] = useState(before.map((tag) => `${tag}, `).join(""));
  const chosen = readTags(typed);
  function write(text: string) {
    setTyped(text);
    onChange?.(text);
  }
  return (
    <div>
      <Field
        label={label}
        hint={t("ticket.tagsHint")}
        name={name}
        value={typed}
        data-autofocus={autoFocus ? "" : undefined}
        // The next tag is typed after the others.
        onFocus={({ currentTarget }) => currentTarget.setSelectionRange(typed.length, typed.length)}
        onChange={write}
      />
      <div role="group" aria-label={t("ticket.addTag")} className="mt-2 flex flex-wrap gap-1 empty:hidden">
        {managed
          .filter((tag) => !chosen.includes(tag.name))
          .map((tag) => (
            <button
              key={tag.id}
              type="button"
              title={tag.description}
              onClick={() => write([...chosen, tag.name].join(", "))}
              className="max-w-full rounded hover:opacity-80"
            >
              <TagChip name={tag.name} color={tag.color} />
            </button>
          ))}
      </div>
    </div>
  );
}
