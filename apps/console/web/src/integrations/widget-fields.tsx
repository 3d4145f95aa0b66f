import { useId, useEffect, useState, useRef } from "react";
import { Plus, Trash2 } from "lucide-react";
import type { ChannelConfigs } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { CONTROL, TextArea, Field, SelectField } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
import { isColor } from "./widget-preview.tsx";
import { WIDGET_STRINGS } from "./preview-texts.ts";

/** Field for a color: a color picker, and its value as `#rrggbb`. */
export function ColorField({
  label,
  value,
  error,
  disabled,
  onChange,
}: {
  label: string;
  value: string;
  error: string | undefined;
  disabled: boolean;
  onChange: (color: string) => void;
}) {
  const { t } = useTexts();
  const id = useId();
  const message = error ?? (isColor(value) ? undefined : t("widget.colorForm"));
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      <div className="flex gap-2">
        <input
          type="color"
          aria-label={t("widget.pickColor")}
          value={isColor(value) ? value : "#000000"}
          disabled={disabled}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
          className="h-8 w-11 shrink-0 cursor-pointer rounded-md border border-edge bg-surface p-0.5 disabled:opacity-60"
        />
        <input
          id={id}
          value={value}
          disabled={disabled}
          spellCheck={false}
          aria-invalid={message !== undefined}
          aria-describedby={message === undefined ? undefined : `${id}-hint`}
          onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
          className={`${CONTROL} font-mono`}
        />
      </div>
      {message !== undefined && (
        <p id={`${id}-hint`} className="mt-1 text-xs text-bad">
          {message}
        </p>
      )}
    </div>
  );
}

/** Field for a list of texts, one per line. `linesOf` splits the typed text. */
function LinesField({
  value,
  linesOf,
  onChange,
  ...field
}: {
  label: string;
  hint: string;
  value: readonly string[];
  error: string | undefined;
  disabled: boolean;
  placeholder?: string;
  dir?: string;
  spellCheck?: boolean;
  linesOf: (text: string) => string[];
  onChange: (lines: string[]) => void;
}) {
  const saved = value.join("\n");
  const [text, setText] = useState(saved);
  // Typed text keeps its line breaks; a value that was changed elsewhere replaces it.
  useEffect(() => {
    setText((typed) => (linesOf(typed).join("\n") === saved ? typed : saved));
  }, [linesOf, saved]);
  return (
    <TextArea
      rows={3}
      {...field}
      value={text}
      onChange={(typed) => {
        setText(typed);
        onChange(linesOf(typed));
      }}
    />
  );
}

const originsOf = (text: string) =>
  text
    .split(/[\s,]+/)
    // A URL that was copied from the address bar ends with a slash, an origin does not.
    .map((line) => line.replace(/(?<=[^/])\/$/, ""))
    .filter((line) => line !== "");

interface ListFieldProps {
  value: readonly string[];
  error: string | undefined;
  disabled: boolean;
  onChange: (lines: string[]) => void;
}

/** Field for the origins of the sites that may use the widget, one per line. */
export function OriginsField(props: ListFieldProps) {
  const { t } = useTexts();
  return (
    <div className="flex flex-col gap-2">
      <LinesField
        {...props}
        label={t("widget.origins")}
        hint={t("widget.originsHint")}
        linesOf={originsOf}
        spellCheck={false}
        placeholder="https://www.example.com"
      />
      {props.value.length === 0 && <Notice variant="warn">{t("widget.anySiteWarning")}</Notice>}
    </div>
  );
}

const questionsOf = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** Field for the questions that the widget suggests, one per line. */
export function QuestionsField({ isOfAll = false, ...props }: ListFieldProps & { isOfAll?: boolean }) {
  const { t } = useTexts();
  return (
    <LinesField
      {...props}
      label={t("widget.questions")}
      hint={t(isOfAll ? "widget.questionsAllHint" : "widget.questionsHint")}
      linesOf={questionsOf}
      dir="auto"
    />
  );
}

type Strings = ChannelConfigs["widget"]["strings"];

const MAX_CHARS = 500;
const OPTION_MAX_CHARS = 60;

const defaultTextOf = (name: string): string | undefined =>
  Object.hasOwn(WIDGET_STRINGS, name) ? WIDGET_STRINGS[name as keyof typeof WIDGET_STRINGS] : undefined;

/** Fields for texts that override the widget's default texts, and a list to add further ones. */
export function StringsField({
  value,
  error,
  disabled,
  onChange,
}: {
  value: Strings;
  error: string | undefined;
  disabled: boolean;
  onChange: (strings: Strings) => void;
}) {
  const { t } = useTexts();
  const listRef = useRef<HTMLUListElement>(null);
  const names = Object.keys(value);

  function add(name: string, text: string) {
    onChange({ ...value, [name]: text });
    // Selects the default text, so that typing replaces it.
    requestAnimationFrame(() => {
      // Selecting also moves the focus to the field.
      listRef.current?.querySelector<HTMLInputElement>(":scope > li:last-child input")?.select();
    });
  }
  const remove = (name: string) =>
    onChange(Object.fromEntries(Object.entries(value).filter(([other]) => other !== name)));

  return (
    <div className="flex flex-col gap-3">
      {names.length > 0 && (
        <ul ref={listRef} className="flex flex-col gap-3">
          {names.map((name) => (
            <li key={name} className="flex items-start gap-1">
              <Field
                label={name}
                hint={defaultTextOf(name) ?? t("widget.unknownString")}
                className="min-w-0 flex-1"
                value={value[name] ?? ""}
                maxLength={MAX_CHARS}
                dir="auto"
                disabled={disabled}
                onChange={(text) => onChange({ ...value, [name]: text })}
              />
              {!disabled && (
                <IconButton
                  icon={Trash2}
                  className="mt-6"
                  label={t("widget.removeString", { name })}
                  onClick={() => remove(name)}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {error !== undefined && (
        <p role="alert" className="text-xs text-bad">
          {error}
        </p>
      )}
      {!disabled && <PickString overridden={names} onPick={add} />}
    </div>
  );
}

/** List of the default texts that are not overridden yet. */
function PickString({
  overridden,
  onPick,
}: {
  overridden: readonly string[];
  onPick: (name: string, text: string) => void;
}) {
  const { t } = useTexts();
  const [picked, setPicked] = useState("");
  const available = Object.entries(WIDGET_STRINGS).filter(([name]) => !overridden.includes(name));
  const text = defaultTextOf(picked);
  function add() {
    if (text === undefined) return;
    onPick(picked, text);
    setPicked("");
  }
  return (
    <div className="flex items-end gap-2">
      <SelectField
        label={t("widget.pickString")}
        className="min-w-0 flex-1"
        value={picked}
        onChange={setPicked}
        options={[
          { value: "", label: t("widget.noString") },
          ...available.map(([name, defaultText]) => ({ value: name, label: defaultText.slice(0, OPTION_MAX_CHARS) })),
        ]}
      />
      <Button icon={Plus} disabled={picked === ""} onClick={add}>
        {t("widget.addString")}
      </Button>
    </div>
  );
}
