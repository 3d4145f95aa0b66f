import { useState } from "react";

/** Holds the values of a form's text fields; `field` returns the attributes of the field with a name. */
export function useFields<Values extends Record<string, string>>(initial: Values) {
  const [values, setValues] = useState(initial);
  const field = (name: keyof Values) => ({
    value: values[name],
    onChange: (value: string) => setValues((known) => ({ ...known, [name]: value })),
  });
  return { values, field };
}
