import { Check, ChevronDown } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { ComponentProps, KeyboardEvent } from "react";
import { findOption } from "./find-text.ts";
import type { Option } from "./find-text.ts";

/** Maximum pause between letters of one word, in milliseconds. */
const WORD_MS = 700;
/** Number of options by which PageUp and PageDown move. */
const PAGE_COUNT = 10;
const LIST_MAX_PX = 320;
/** Distance of the list from its field, and from the edges of the window. */
const GAP_PX = 4;
const EDGE_PX = 8;

/** Places the list below its field, or above it if there is more space. */
function place(list: HTMLElement, field: DOMRect): void {
  const below = innerHeight - field.bottom - GAP_PX - EDGE_PX;
  const above = field.top - GAP_PX - EDGE_PX;
  const isAbove = below < Math.min(list.scrollHeight, LIST_MAX_PX) && above > below;
  const { style } = list;
  style.minWidth = `${field.width}px`;
  style.maxHeight = `${Math.min(isAbove ? above : below, LIST_MAX_PX)}px`;
  style.left = `${Math.max(EDGE_PX, Math.min(field.left, innerWidth - list.offsetWidth - EDGE_PX))}px`;
  if (isAbove) style.bottom = `${innerHeight - field.top + GAP_PX}px`;
  else style.top = `${field.bottom + GAP_PX}px`;
}

/**
 * Shows the list over the page at its field, scrolls the active option into view, and calls `onLeave` when the page
 * moves.
 */
function useListPlace(field: { current: HTMLElement | null }, active: number, onLeave: () => void) {
  const ref = useRef<HTMLUListElement>(null);
  const placedAt = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    if (ref.current === null || field.current === null) return;
    const rect = field.current.getBoundingClientRect();
    placedAt.current = rect.top;
    ref.current.showPopover();
    place(ref.current, rect);
  }, [field]);
  useLayoutEffect(() => {
    ref.current?.children[active]?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const leave = useRef(onLeave);
  useEffect(() => {
    leave.current = onLeave;
  });
  useEffect(() => {
    // The event of a scroll that ended before the list was placed arrives afterwards.
    const onScroll = ({ target }: Event) => {
      if (target !== ref.current && field.current?.getBoundingClientRect().top !== placedAt.current) leave.current();
    };
    const onResize = () => leave.current();
    globalThis.addEventListener("scroll", onScroll, true);
    globalThis.addEventListener("resize", onResize);
    return () => {
      globalThis.removeEventListener("scroll", onScroll, true);
      globalThis.removeEventListener("resize", onResize);
    };
  }, [field]);
  return ref;
}

/** The options, over the page and its dialogs. `onLeave` is called when the page below moves. */
function OptionList({
  id,
  label,
  options,
  active,
  selected,
  field,
  onChoose,
  onLeave,
}: {
  id: string;
  label: string;
  options: readonly Option<string>[];
  active: number;
  selected: number;
  field: { current: HTMLElement | null };
  onChoose: (index: number) => void;
  onLeave: () => void;
}) {
  const ref = useListPlace(field, active, onLeave);
  return (
    <ul
      ref={ref}
      id={id}
      popover="manual"
      role="listbox"
      aria-label={label}
      // The field keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
      className="animate-appear fixed inset-auto m-0 max-w-[calc(100vw-1rem)] overflow-y-auto rounded-lg border border-line bg-raised p-1 text-sm text-ink shadow-pop"
    >
      {options.map(({ label: text, value }, index) => (
        <li
          key={value}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === selected}
          data-active={index === active ? "" : undefined}
          onClick={() => onChoose(index)}
          className="flex min-h-8 cursor-pointer items-center gap-2 rounded-md py-1 pr-3 pl-2 hover:bg-hover data-active:bg-hover"
        >
          <Check aria-hidden className={`size-4 shrink-0 text-accent ${index === selected ? "" : "invisible"}`} />
          <span dir="auto" className="min-w-0 wrap-anywhere">
            {text}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Returns the option to which a key moves from the active one of `count`; null if it moves to none. */
function moveOf(key: string, active: number, count: number): number | null {
  const to: Record<string, number> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + PAGE_COUNT,
    PageUp: active - PAGE_COUNT,
    Home: 0,
    End: count - 1,
  };
  const index = to[key];
  return index === undefined ? null : Math.max(0, Math.min(index, count - 1));
}

/** The state of a list box: whether it is open, and the active option. */
function useListBox(
  listId: string,
  options: readonly Option<string>[],
  selected: number,
  choose: (index: number) => void,
) {
  const [active, setActive] = useState<number | null>(null);
  const typed = useRef({ letters: "", at: Number.NEGATIVE_INFINITY });
  const isOpen = active !== null;
  const close = () => setActive(null);
  const take = (index: number) => {
    close();
    if (index !== selected) choose(index);
  };
  function type(letter: string, nowMs: number) {
    const isWord = nowMs - typed.current.at < WORD_MS;
    typed.current = { letters: (isWord ? typed.current.letters : "") + letter, at: nowMs };
    setActive(findOption(options, typed.current.letters, active ?? selected));
  }
  /** Implements the select-only combobox of the ARIA Authoring Practices Guide. */
  function onKeyDown(event: KeyboardEvent) {
    const { altKey, ctrlKey, key, metaKey, timeStamp } = event;
    const isTyping = timeStamp - typed.current.at < WORD_MS;
    const isChoice = key === "Enter" || (key === " " && !isTyping) || (altKey && key === "ArrowUp");
    const move = moveOf(key, active ?? selected, options.length);
    if (ctrlKey || metaKey) return;
    if (active === null && (isChoice || (move !== null && !["Home", "End"].includes(key)))) setActive(selected);
    else if (active !== null && isChoice) take(active);
    else if (active !== null && key === "Tab") return take(active);
    else if (active !== null && key === "Escape") close();
    else if (move !== null) setActive(move);
    else if (key.length === 1 && !altKey) type(key, timeStamp);
    else return;
    // An Escape that closes the list must not close the dialog.
    event.preventDefault();
    event.stopPropagation();
  }
  const attributes = {
    "aria-expanded": isOpen,
    "aria-controls": isOpen ? listId : undefined,
    "aria-activedescendant": isOpen ? `${listId}-${active}` : undefined,
    onKeyDown,
    onBlur: close,
  };
  return { active, attributes, close, take, toggle: () => setActive(isOpen ? null : selected) };
}

/** Properties of a choice: its options, and the selected one. */
interface Choice<Value extends string> {
  value?: Value | undefined;
  defaultValue?: Value | undefined;
  options: readonly Option<Value>[];
  onChange?: ((value: Value) => void) | undefined;
}

/**
 * Returns the index of the selected option, and a function that selects another one. `input` has its value in a form.
 */
function useChoice<Value extends string>({ value, defaultValue, options, onChange }: Choice<Value>) {
  const input = useRef<HTMLInputElement>(null);
  const [own, setOwn] = useState(defaultValue);
  // A value without an option is shown as the first one, like in browsers.
  const selected = Math.max(
    0,
    options.findIndex((option) => option.value === (value ?? own)),
  );
  const choose = (index: number) => {
    const next = options[index]?.value;
    if (next === undefined) return;
    setOwn(next);
    onChange?.(next);
    // Notifies a dialog that something in its form was changed.
    input.current?.dispatchEvent(new Event("input", { bubbles: true }));
  };
  return { choose, input, selected };
}

/**
 * A choice between options: a button that shows the selected one and opens the list of all. In a form it has the value
 * of the option under its `name`.
 */
export function ListBox<Value extends string>({
  id,
  label,
  name,
  value,
  defaultValue,
  options,
  onChange,
  className = "",
  ...rest
}: Omit<ComponentProps<"button">, "id" | "name" | keyof Choice<Value>> &
  Choice<Value> & {
    id: string;
    /** Name of the list; that of the button is its label. */
    label: string;
    name?: string | undefined;
  }) {
  const button = useRef<HTMLButtonElement>(null);
  const { choose, input, selected } = useChoice({ value, defaultValue, options, onChange });
  const listId = `${id}-list`;
  const { active, attributes, close, take, toggle } = useListBox(listId, options, selected, choose);
  return (
    <>
      <button
        {...rest}
        ref={button}
        id={id}
        type="button"
        role="combobox"
        aria-haspopup="listbox"
        {...attributes}
        onClick={({ currentTarget }) => {
          // Safari does not focus a clicked button.
          currentTarget.focus();
          toggle();
        }}
        className={`flex items-center gap-2 text-left ${className}`}
      >
        <span dir="auto" className="min-w-0 flex-1 truncate">
          {options[selected]?.label ?? ""}
        </span>
        <ChevronDown aria-hidden className="size-4 shrink-0 text-faint" />
      </button>
      {/* Without a name it is not submitted; a dialog still gets its change events. */}
      <input ref={input} type="hidden" name={name} value={options[selected]?.value ?? ""} disabled={rest.disabled} />
      {active !== null && (
        <OptionList
          id={listId}
          label={label}
          options={options}
          active={active}
          selected={selected}
          field={button}
          onChoose={take}
          onLeave={close}
        />
      )}
    </>
  );
}
