import type { Person } from "../app/use-names.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Avatar } from "../ui/avatar.tsx";

/** Who can be mentioned; the keys are the text's, which keeps the focus. */
export function MentionList({
  people,
  picked,
  onPick,
}: {
  people: readonly Person[];
  picked: number;
  onPick: (person: Person) => void;
}) {
  const { t } = useTexts();
  return (
    <ul
      role="listbox"
      aria-label={t("compose.mention")}
      className="absolute bottom-full left-0 z-20 mb-1 w-60 rounded-lg border border-line bg-raised p-1 shadow-pop"
    >
      {people.map((person, index) => (
        <li
          key={person.actor}
          role="option"
          aria-selected={index === picked}
          onPointerDown={(event) => {
            event.preventDefault();
            onPick(person);
          }}
          className="flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 text-sm aria-selected:bg-hover"
        >
          <Avatar name={person.name} size="small" />
          <span className="truncate">{person.name}</span>
        </li>
      ))}
    </ul>
  );
}
