import { useId } from "react";
import type { ReactNode } from "react";

/** A few that are chosen between, all shown at once. */
export function ChoiceGroup<Value extends string>({
  label,
  hidesLabel = false,
  hint,
  value,
  options,
  isDisabled = false,
  onChange,
  className = "",
}: {
  label: string;
  hidesLabel?: boolean;
  hint?: ReactNode;
  value: Value;
  options: readonly { value: Value; label: string; hint?: string }[];
  isDisabled?: boolean;
  onChange: (value: Value) => void;
  className?: string;
}) {
  const name = useId();
  const isRow = options.every((option) => option.hint === undefined);
  return (
    <fieldset disabled={isDisabled} className={`min-w-0 ${className}`}>
      <legend className={hidesLabel ? "sr-only" : "mb-1 text-sm font-medium"}>{label}</legend>
      <div
        className={
          isRow
            ? "grid auto-cols-fr grid-flow-col rounded-md border border-edge bg-surface p-0.5"
            : "flex flex-col gap-2"
        }
      >
        {options.map((option) =>
          isRow ? (
            <label
              key={option.value}
              className="cursor-pointer rounded px-2 py-0.5 text-center text-sm leading-6 text-muted has-checked:bg-accent-soft has-checked:font-medium has-checked:text-accent has-disabled:cursor-not-allowed has-disabled:opacity-60 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
            >
              <input
                type="radio"
                name={name}
                value={option.value}
                checked={option.value === value}
                onChange={() => onChange(option.value)}
                className="sr-only"
              />
              {option.label}
            </label>
          ) : (
            <label
              key={option.value}
              className="flex cursor-pointer items-start gap-2.5 rounded-lg border border-line px-3 py-2.5 has-checked:border-accent has-checked:bg-accent-soft has-disabled:cursor-not-allowed has-disabled:opacity-60"
            >
              <input
                type="radio"
                name={name}
                value={option.value}
                checked={option.value === value}
                onChange={() => onChange(option.value)}
                className="mt-0.5 size-4 shrink-0 accent-accent"
              />
              <span className="min-w-0">
                <span className="block text-sm font-medium">{option.label}</span>
                <span className="block text-xs text-muted">{option.hint}</span>
              </span>
            </label>
          ),
        )}
      </div>
      {hint !== undefined && <p className="mt-1 text-xs text-muted">{hint}</p>}
    </fieldset>
  );
}
