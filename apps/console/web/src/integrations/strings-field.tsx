import { Plus, Trash2 } from "lucide-react";
import { useRef, useState } from "react";
import type { ChannelConfigs } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { WIDGET_STRINGS } from "./widget-strings.ts";

type Strings = ChannelConfigs["widget"]["strings"];

const MAX_CHARS = 500;
const SHOWN_MAX_CHARS = 60;

const ownTextOf = (name: string): string | undefined =>
  Object.hasOwn(WIDGET_STRINGS, name) ? WIDGET_STRINGS[name as keyof typeof WIDGET_STRINGS] : undefined;

/** The texts that the site puts in the place of the widget's own: one is chosen, then written. */
export function StringsField({
  value,
  fault,
  isDisabled,
  onChange,
}: {
  value: Strings;
  fault: string | undefined;
  isDisabled: boolean;
  onChange: (strings: Strings) => void;
}) {
  const { t } = useTexts();
  const [picked, setPicked] = useState("");
  const listRef = useRef<HTMLUListElement>(null);
  const names = Object.keys(value);
  const free = Object.entries(WIDGET_STRINGS).filter(([name]) => !names.includes(name));

  function add() {
    const own = ownTextOf(picked);
    if (own === undefined) return;
    onChange({ ...value, [picked]: own });
    setPicked("");
    // It begins with the widget's own words, to be written over.
    requestAnimationFrame(() => {
      const field = listRef.current?.querySelector<HTMLInputElement>(":scope > li:last-child input");
      field?.focus();
      field?.select();
    });
  }

  return (
    <div className="flex flex-col gap-3">
      {names.length > 0 && (
        <ul ref={listRef} className="flex flex-col gap-3">
          {names.map((name) => (
            <li key={name} className="flex items-start gap-1">
              <Field
                label={name}
                hint={ownTextOf(name) ?? t("widget.unknownString")}
                className="min-w-0 flex-1"
                value={value[name] ?? ""}
                maxLength={MAX_CHARS}
                dir="auto"
                disabled={isDisabled}
                onChange={({ currentTarget }) => onChange({ ...value, [name]: currentTarget.value })}
              />
              {!isDisabled && (
                <IconButton
                  icon={Trash2}
                  className="mt-6"
                  label={t("widget.removeString", { name })}
                  onClick={() =>
                    onChange(Object.fromEntries(Object.entries(value).filter(([other]) => other !== name)))
                  }
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {fault !== undefined && (
        <p role="alert" className="text-xs text-bad">
          {fault}
        </p>
      )}
      {!isDisabled && (
        <div className="flex items-end gap-2">
          <SelectField
            label={t("widget.pickString")}
            className="min-w-0 flex-1"
            value={picked}
            onChange={({ currentTarget }) => setPicked(currentTarget.value)}
            options={[
              { value: "", label: t("widget.noString") },
              ...free.map(([name, text]) => ({ value: name, label: text.slice(0, SHOWN_MAX_CHARS) })),
            ]}
          />
          <Button disabled={picked === ""} onClick={add}>
            <Plus aria-hidden className="size-4" />
            {t("widget.addString")}
          </Button>
        </div>
      )}
    </div>
  );
}
