/** A whole number out of what was typed; what is none goes to the server as zero, which says what it takes. */
export const wholeNumber = (text: string): number => Math.round(Number(text)) || 0;

/** What somebody has changed and not saved yet: by field, the value before and the one that is meant. */
export type Edits<Settings> = { readonly [Name in keyof Settings]?: { before: Settings[Name]; value: Settings[Name] } };

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

const namesOf = <Settings>(edits: Edits<Settings>) => Object.keys(edits) as (keyof Settings)[];

/** The settings with what was changed in them. */
export function withEdits<Settings extends object>(settings: Settings, edits: Edits<Settings>): Settings {
  const shown = { ...settings };
  for (const name of namesOf(edits)) {
    const edit = edits[name];
    if (edit !== undefined) shown[name] = edit.value;
  }
  return shown;
}

/** The edits with one more; one that comes back to what is saved is none. */
export function addEdit<Settings extends object, Name extends keyof Settings>(
  edits: Edits<Settings>,
  settings: Settings,
  name: Name,
  value: Settings[Name],
): Edits<Settings> {
  const { [name]: known, ...others } = edits;
  if (isSame(value, settings[name])) return others as Edits<Settings>;
  return { ...edits, [name]: { before: known === undefined ? settings[name] : known.before, value } };
}

/** What is to be saved: the fields that differ from what is saved now. */
export function changesOf<Settings extends object>(settings: Settings, edits: Edits<Settings>): Partial<Settings> {
  const changes: Partial<Settings> = {};
  for (const name of namesOf(edits)) {
    const edit = edits[name];
    if (edit !== undefined && !isSame(edit.value, settings[name])) changes[name] = edit.value;
  }
  return changes;
}

/** Fields that somebody else has changed meanwhile, to something else than is meant here. */
export function conflictsOf<Settings extends object>(settings: Settings, edits: Edits<Settings>): (keyof Settings)[] {
  return namesOf(edits).filter((name) => {
    const edit = edits[name];
    return edit !== undefined && !isSame(edit.before, settings[name]) && !isSame(edit.value, settings[name]);
  });
}

/** The edits as made anew on what is saved now: whoever has seen the conflicts means them. */
export function onTopOf<Settings extends object>(settings: Settings, edits: Edits<Settings>): Edits<Settings> {
  let rebased: Edits<Settings> = {};
  for (const name of namesOf(edits)) {
    const edit = edits[name];
    if (edit !== undefined) rebased = addEdit(rebased, settings, name, edit.value);
  }
  return rebased;
}
