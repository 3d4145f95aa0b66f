import { createContext, useContext, useId, useState } from "react";
import type { ComponentProps, ReactNode } from "react";
import { Search } from "lucide-react";
import { ListBox } from "./list-box.tsx";

/** Returns the text of a form's field; empty if there is no such field, or it is a file. */
export function formText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}

const BOX =
  "w-full scroll-my-32 rounded-md border border-edge bg-surface text-base text-ink aria-invalid:border-bad disabled:opacity-60 md:text-sm";
/** Classes of a control that takes one line of text. */
export const CONTROL = `h-8 px-2.5 ${BOX}`;

/** Returns the error of the field at a JSON pointer of the request that the form has sent; see `errorAt`. */
export const FieldErrors = createContext<(pointer: string, hasLines: boolean) => string | undefined>(() => undefined);

/** A label, a hint or an error, and the value: what all fields have in common. */
interface FieldProps<Value extends string = string> {
  label: string;
  hint?: ReactNode;
  error?: string | null | undefined;
  /** JSON pointer of the value in the request, by which the form finds its error. */
  pointer?: string;
  onChange?: (value: Value) => void;
}
type Rest<Tag extends "input" | "textarea"> = Omit<ComponentProps<Tag>, "onChange">;

/** The label above a control, and the hint or the error below it; `children` gets the attributes of the control. */
function Labelled({
  label,
  hidesLabel = false,
  hint,
  error: given,
  pointer,
  hasLines = false,
  className = "",
  children,
}: Omit<FieldProps, "onChange"> & {
  hidesLabel?: boolean;
  hasLines?: boolean;
  className?: string | undefined;
  children: (attributes: { id: string; "aria-invalid": boolean; "aria-describedby": string | undefined }) => ReactNode;
}) {
  const id = useId();
  const findError = useContext(FieldErrors);
  /** The errors of a submit that this field has been changed after. */
  const [corrected, setCorrected] = useState<typeof findError | null>(null);
  const isFound = pointer !== undefined && corrected !== findError;
  const error = given ?? (isFound ? findError(pointer, hasLines) : undefined);
  const isWrong = error != null;
  const note = error ?? hint;
  const noteId = note === undefined ? undefined : `${id}-hint`;
  return (
    <div className={className} onInput={() => setCorrected(() => findError)}>
      <label htmlFor={id} className={hidesLabel ? "sr-only" : "mb-1 block text-sm font-medium"}>
        {label}
      </label>
      {children({ id, "aria-invalid": isWrong, "aria-describedby": noteId })}
      {note !== undefined && (
        <p id={noteId} className={`mt-1 text-xs ${isWrong ? "text-bad" : "text-muted"}`}>
          {note}
        </p>
      )}
    </div>
  );
}

/** A labelled field of one line. */
export function Field({ label, hint, error, pointer, className, onChange, ...rest }: FieldProps & Rest<"input">) {
  return (
    <Labelled label={label} hint={hint} error={error} {...(pointer !== undefined && { pointer })} className={className}>
      {(attributes) => (
        <input
          {...rest}
          {...attributes}
          {...(onChange !== undefined && { onChange: ({ currentTarget }) => onChange(currentTarget.value) })}
          className={CONTROL}
        />
      )}
    </Labelled>
  );
}

/** A labelled choice between options. */
export function SelectField<Value extends string>({
  label,
  hidesLabel = false,
  hint,
  className,
  ...rest
}: Omit<FieldProps<Value>, "error" | "pointer"> &
  Omit<ComponentProps<typeof ListBox<Value>>, "id"> & { hidesLabel?: boolean }) {
  return (
    <Labelled label={label} hidesLabel={hidesLabel} hint={hint} className={className}>
      {(attributes) => <ListBox<Value> {...rest} {...attributes} label={label} className={CONTROL} />}
    </Labelled>
  );
}

/** A labelled multi-line field. */
export function TextArea({
  label,
  hidesLabel = false,
  hint,
  error,
  pointer,
  className,
  onChange,
  ...rest
}: FieldProps & Rest<"textarea"> & { hidesLabel?: boolean }) {
  return (
    <Labelled
      label={label}
      hidesLabel={hidesLabel}
      hint={hint}
      error={error}
      {...(pointer !== undefined && { pointer })}
      hasLines
      className={className}
    >
      {(attributes) => (
        <textarea
          rows={4}
          {...rest}
          {...attributes}
          {...(onChange !== undefined && { onChange: ({ currentTarget }) => onChange(currentTarget.value) })}
          className={`block resize-y px-2.5 py-1.5 ${BOX}`}
        />
      )}
    </Labelled>
  );
}

const SEARCH_LOOKS = {
  plain: "border-edge bg-surface",
  sunken: "border-transparent bg-sunken focus:border-accent focus:bg-surface [&::-webkit-search-cancel-button]:hidden",
} as const;

/** A search field with an icon. Its label is hidden; it is the placeholder as well. */
export function SearchField({
  label,
  variant: check = "plain",
  className = "",
  onChange,
  ...rest
}: Omit<FieldProps, "hint" | "error" | "pointer"> & Rest<"input"> & { variant?: keyof typeof SEARCH_LOOKS }) {
  return (
    <label className={`relative min-w-0 flex-1 ${className}`}>
      <span className="sr-only">{label}</span>
      <Search aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" />
      <input
        placeholder={label}
        {...rest}
        {...(onChange !== undefined && { onChange: ({ currentTarget }) => onChange(currentTarget.value) })}
        type="search"
        className={`h-8 w-full rounded-md border pr-2 pl-8 text-base md:text-sm ${SEARCH_LOOKS[check]}`}
      />
    </label>
  );
}
