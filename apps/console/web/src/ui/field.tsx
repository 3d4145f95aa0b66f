import { useId } from "react";
import type { ComponentProps, ReactNode } from "react";

/** The text of a form's field; empty where the field is none, or a file. */
export function formText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}

/** How everything looks that text is typed into. */
export const CONTROL =
  "h-8 w-full rounded-md border border-edge bg-surface px-2.5 text-base text-ink aria-invalid:border-bad disabled:opacity-60 md:text-sm";

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
}

/** A labelled place to type in, with a hint and what is wrong. */
export function Field({ label, hint, error, className = "", ...rest }: FieldProps & ComponentProps<"input">) {
  const id = useId();
  const isWrong = error !== undefined;
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      <input
        {...rest}
        id={id}
        aria-invalid={isWrong}
        aria-describedby={isWrong || hint !== undefined ? `${id}-hint` : undefined}
        className={CONTROL}
      />
      <FieldHint id={`${id}-hint`} hint={hint} error={error} />
    </div>
  );
}

/** A labelled choice between a few. */
export function SelectField({
  label,
  hint,
  options,
  hidesLabel = false,
  className = "",
  ...rest
}: Omit<FieldProps, "error"> &
  ComponentProps<"select"> & { options: readonly { value: string; label: string }[]; hidesLabel?: boolean }) {
  const id = useId();
  return (
    <div className={className}>
      <label htmlFor={id} className={hidesLabel ? "sr-only" : "mb-1 block text-sm font-medium"}>
        {label}
      </label>
      <select {...rest} id={id} className={CONTROL}>
        {options.map(({ value, label: text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <FieldHint id={`${id}-hint`} hint={hint} />
    </div>
  );
}

function FieldHint({ id, hint, error }: { id: string; hint?: ReactNode; error?: string | undefined }) {
  if (error !== undefined) {
    return (
      <p id={id} className="mt-1 text-xs text-bad">
        {error}
      </p>
    );
  }
  return hint === undefined ? null : (
    <p id={id} className="mt-1 text-xs text-muted">
      {hint}
    </p>
  );
}

/** A labelled place for several lines. */
export function TextArea({
  label,
  hint,
  error,
  className = "",
  ...rest
}: ComponentProps<"textarea"> & { label: string; hint?: ReactNode; error?: string | undefined }) {
  const id = useId();
  const said = error ?? hint;
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      <textarea
        rows={4}
        {...rest}
        id={id}
        aria-invalid={error !== undefined}
        aria-describedby={said === undefined ? undefined : `${id}-hint`}
        className="block w-full resize-y rounded-md border border-edge bg-surface px-2.5 py-1.5 text-base text-ink aria-invalid:border-bad disabled:opacity-60 md:text-sm"
      />
      {said !== undefined && (
        <p id={`${id}-hint`} className={`mt-1 text-xs ${error === undefined ? "text-muted" : "text-bad"}`}>
          {said}
        </p>
      )}
    </div>
  );
}
