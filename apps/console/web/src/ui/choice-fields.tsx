import { Command, defaultFilter } from "cmdk";
import { Search } from "lucide-react";
import { Switch as Base, Tabs } from "radix-ui";
import { useId, useState } from "react";
import type { ReactNode } from "react";
import { useTexts } from "../i18n/texts.ts";
import { fold } from "./find-text.ts";

/** A checkbox with a label and a hint. */
export function CheckBox({
  label,
  hint,
  isOn,
  disabled = false,
  onChange,
}: {
  label: ReactNode;
  hint?: ReactNode;
  isOn: boolean;
  disabled?: boolean;
  onChange: (isOn: boolean) => void;
}) {
  const id = useId();
  return (
    <div className="flex items-start gap-2">
      <input
        id={id}
        type="checkbox"
        checked={isOn}
        disabled={disabled}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        className="mt-0.5 size-4 shrink-0 accent-accent"
      />
      <div className="min-w-0">
        <label htmlFor={id} className="block text-sm">
          {label}
        </label>
        {hint !== undefined && (
          <p id={`${id}-hint`} className="text-xs text-muted">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}

/** A switch. Its label is beside it, unless it is hidden. */
export function Switch({
  label,
  hidesLabel = false,
  hint,
  isOn,
  disabled = false,
  onChange,
}: {
  label: string;
  hidesLabel?: boolean;
  hint?: ReactNode;
  isOn: boolean;
  disabled?: boolean;
  onChange: (isOn: boolean) => void;
}) {
  const id = useId();
  return (
    <div className="flex items-start gap-2.5">
      <Base.Root
        id={id}
        checked={isOn}
        disabled={disabled}
        onCheckedChange={onChange}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        className="relative mt-px h-5 w-9 shrink-0 rounded-full bg-edge transition-colors disabled:opacity-50 data-[state=checked]:bg-accent"
      >
        <Base.Thumb className="block size-4 translate-x-0.5 rounded-full bg-surface transition-transform data-[state=checked]:translate-x-4.5" />
      </Base.Root>
      <div className={hidesLabel && hint === undefined ? "sr-only" : "min-w-0"}>
        <label htmlFor={id} className={hidesLabel ? "sr-only" : "block text-sm font-medium"}>
          {label}
        </label>
        {hint !== undefined && (
          <p id={`${id}-hint`} className="text-xs text-muted">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}

const ROW = "grid auto-cols-fr grid-flow-col rounded-md border border-edge bg-surface p-0.5";
const ROW_OPTION =
  "cursor-pointer rounded px-2 py-0.5 text-center text-sm leading-6 text-muted has-checked:bg-accent-soft has-checked:font-medium has-checked:text-accent has-disabled:cursor-not-allowed has-disabled:opacity-60 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent";
const LIST_OPTION =
  "flex cursor-pointer items-start gap-2.5 rounded-lg border border-line px-3 py-2.5 has-checked:border-accent has-checked:bg-accent-soft has-disabled:cursor-not-allowed has-disabled:opacity-60";

/** A choice between a few options that are all visible: a row, or a list if they have hints. */
export function ChoiceGroup<Value extends string>({
  label,
  hidesLabel = false,
  hint,
  value,
  options,
  disabled = false,
  onChange,
  className = "",
}: {
  label: string;
  hidesLabel?: boolean;
  hint?: ReactNode;
  value: Value;
  options: readonly { value: Value; label: string; hint?: string }[];
  disabled?: boolean;
  onChange: (value: Value) => void;
  className?: string;
}) {
  const name = useId();
  const isRow = options.every((option) => option.hint === undefined);
  return (
    <fieldset disabled={disabled} className={`min-w-0 ${className}`}>
      <legend className={hidesLabel ? "sr-only" : "mb-1 text-sm font-medium"}>{label}</legend>
      <div className={isRow ? ROW : "flex flex-col gap-2"}>
        {options.map((option) => {
          const radio = (
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
              className={isRow ? "sr-only" : "mt-0.5 size-4 shrink-0 accent-accent"}
            />
          );
          return isRow ? (
            <label key={option.value} className={ROW_OPTION}>
              {radio}
              {option.label}
            </label>
          ) : (
            <label key={option.value} className={LIST_OPTION}>
              {radio}
              <span className="min-w-0">
                <span className="block text-sm font-medium">{option.label}</span>
                <span className="block text-xs text-muted">{option.hint}</span>
              </span>
            </label>
          );
        })}
      </div>
      {hint !== undefined && <p className="mt-1 text-xs text-muted">{hint}</p>}
    </fieldset>
  );
}

/** The list of tabs, within `Tabs.Root`. */
export function TabList({ label, tabs }: { label: string; tabs: readonly { value: string; label: string }[] }) {
  return (
    <Tabs.List aria-label={label} className="mb-2.5 flex gap-1 overflow-x-auto border-b border-line">
      {tabs.map(({ label: text, value }) => (
        <Tabs.Trigger
          key={value}
          value={value}
          className="-mb-px shrink-0 rounded-t border-b-2 border-transparent px-2.5 py-1.5 text-sm font-medium text-muted -outline-offset-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
        >
          {text}
        </Tabs.Trigger>
      ))}
    </Tabs.List>
  );
}

/** An item of the list. */
export interface PickItem {
  id: string;
  /** Words that are searched. */
  words: string;
  view: ReactNode;
}

/** A list with a search field, which can be used with the keyboard alone. */
export function PickList({
  label,
  items,
  empty,
  onPick,
}: {
  label: string;
  /** The items, or a function that returns them for the typed words. */
  items: readonly PickItem[] | ((words: string) => readonly PickItem[]);
  /** Text without a matching item. */
  empty: string;
  onPick: (id: string) => void;
}) {
  const { t } = useTexts();
  const [words, setWords] = useState("");
  const offered = typeof items === "function" ? items(words.trim()) : items;
  return (
    <Command label={label} loop filter={(item, typed) => defaultFilter(fold(item), fold(typed))}>
      <div className="flex items-center gap-2.5 border-b border-line px-4">
        <Search aria-hidden className="size-4 shrink-0 text-faint" />
        <Command.Input
          autoFocus
          data-autofocus
          value={words}
          onValueChange={setWords}
          placeholder={t("ui.find")}
          className="h-11 w-full bg-transparent text-base outline-none"
        />
      </div>
      <Command.List className="h-[min(20rem,50vh)] overflow-y-auto p-1.5">
        <Command.Empty className="px-3 py-8 text-center text-sm text-muted">{empty}</Command.Empty>
        {offered.map(({ id, view, words: names }) => (
          <Command.Item
            key={id}
            value={`${names} ${id}`}
            onSelect={() => onPick(id)}
            className="flex min-h-9 cursor-pointer items-center gap-2 rounded-md px-2.5 py-1.5 text-sm data-[selected=true]:bg-hover"
          >
            {view}
          </Command.Item>
        ))}
      </Command.List>
    </Command>
  );
}
