import { useState } from "react";
import { ServiceError } from "@svc/client";
import { useTexts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { describeError, errorAt } from "../ui/describe-error.ts";

/** Runs one action at a time, and describes its error. */
export function useAction() {
  const { t } = useTexts();
  const { queryClient, toasts } = useServices();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [cause, setCause] = useState<unknown>(null);

  function describe(cause: unknown): string {
    // The item was changed or deleted meanwhile: the shown data is stale.
    if (cause instanceof ServiceError && (cause.status === 412 || cause.status === 404)) {
      void queryClient.invalidateQueries();
    }
    return describeError(cause, t);
  }

  /** Runs the action, unless another one is running; `error` and `cause` are set if it throws. Returns true if it was done. */
  async function run(action: () => Promise<unknown>): Promise<boolean> {
    if (isBusy) return false;
    setBusy(true);
    setError(null);
    setCause(null);
    try {
      await action();
      return true;
    } catch (thrown) {
      setError(describe(thrown));
      setCause(thrown);
      return false;
    } finally {
      setBusy(false);
    }
  }

  /** Does the same with toasts: one with the error, or one with the text that the action returns. */
  async function runAside(action: () => Promise<string | void>): Promise<void> {
    await run(async () => {
      try {
        const done = await action();
        if (typeof done === "string") toasts.show({ kind: "done", text: done });
      } catch (cause) {
        toasts.show({ kind: "error", text: describe(cause) });
      }
    });
  }

  return { isBusy, error, cause, setError, run, runAside };
}

/** Unsaved changes: by field, the value before and the new one. */
type Edits<Settings> = { readonly [Name in keyof Settings]?: { before: Settings[Name]; value: Settings[Name] } };

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

const namesOf = <Settings>(edits: Edits<Settings>) => Object.keys(edits) as (keyof Settings)[];

/** Returns the settings with the edits applied. */
export function withEdits<Settings extends object>(settings: Settings, edits: Edits<Settings>): Settings {
  const shown = { ...settings };
  for (const name of namesOf(edits)) {
    const edit = edits[name];
    if (edit !== undefined) shown[name] = edit.value;
  }
  return shown;
}

/** Returns the edits with one more; a value that equals the saved one removes the edit. */
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

/** Returns the fields that differ from the saved values. */
export function changesOf<Settings extends object>(settings: Settings, edits: Edits<Settings>): Partial<Settings> {
  const changes: Partial<Settings> = {};
  for (const name of namesOf(edits)) {
    const edit = edits[name];
    if (edit !== undefined && !isSame(edit.value, settings[name])) changes[name] = edit.value;
  }
  return changes;
}

/** Returns the fields that another operator has changed meanwhile to another value. */
export function conflictsOf<Settings extends object>(settings: Settings, edits: Edits<Settings>): (keyof Settings)[] {
  return namesOf(edits).filter((name) => {
    const edit = edits[name];
    return edit !== undefined && !isSame(edit.before, settings[name]) && !isSame(edit.value, settings[name]);
  });
}

/** Returns the edits based on the saved values: the operator has seen the conflicts. */
export function rebaseEdits<Settings extends object>(settings: Settings, edits: Edits<Settings>): Edits<Settings> {
  let rebased: Edits<Settings> = {};
  for (const name of namesOf(edits)) {
    const edit = edits[name];
    if (edit !== undefined) rebased = addEdit(rebased, settings, name, edit.value);
  }
  return rebased;
}

/** A form for saved settings: shows them with the edits, and saves what has changed. */
export interface SettingsForm<Settings> {
  /** The saved settings with the edits. */
  shown: Settings;
  set: <Name extends keyof Settings>(name: Name, value: Settings[Name]) => void;
  /** Returns the error of a field, in the language of the page. */
  errorOf: (name: keyof Settings) => string | undefined;
  /** Returns the attributes of the control of a field. */
  field: <Name extends keyof Settings>(
    name: Name,
  ) => {
    value: Settings[Name];
    error: string | undefined;
    disabled: boolean;
    onChange: (value: Settings[Name]) => void;
  };
  /** The fields that would be saved now. */
  changes: Partial<Settings>;
  isDirty: boolean;
  isBusy: boolean;
  isDisabled: boolean;
  /** Names of fields that another operator has changed meanwhile. */
  conflicts: readonly (keyof Settings)[];
  /** Description of the error when saving. */
  error: string | null;
  save: () => void;
  discard: () => void;
}

/** Options of a settings form. */
interface SettingsFormOptions<Settings> {
  saved: Settings;
  mayChange: boolean;
  /** JSON pointer of the settings in the request body. */
  pointer: string;
  /**
   * Saves the changes, unless `isConflict` returns true for the current settings. Returns the text of the toast that
   * confirms it, or null for a conflict.
   */
  store: (changes: Partial<Settings>, isConflict: (now: Settings) => boolean) => Promise<string | null>;
  describe: (error: unknown) => string;
}

/** A form for saved settings. If another operator has changed the same fields meanwhile, the next save overrides it. */
export function useSettingsForm<Settings extends object>(
  options: SettingsFormOptions<Settings>,
): SettingsForm<Settings> {
  const { saved, mayChange, pointer, store, describe } = options;
  const { t } = useTexts();
  const { toasts } = useServices();
  const [edits, setEdits] = useState<Edits<Settings>>({});
  /** The error of the last save, and the values that it is about. */
  const [error, setError] = useState<{ cause: unknown; of: Settings } | null>(null);
  const [conflicts, setConflicts] = useState<readonly (keyof Settings)[]>([]);
  const [isBusy, setBusy] = useState(false);
  const changes = changesOf(saved, edits);
  const shown = withEdits(saved, edits);
  const set: SettingsForm<Settings>["set"] = (name, value) => setEdits((known) => addEdit(known, saved, name, value));
  const errorOf = (name: keyof Settings) =>
    isSame(shown[name], error?.of[name]) ? errorAt(error?.cause, `${pointer}/${String(name)}`, t) : undefined;

  function isConflict(now: Settings): boolean {
    const found = conflictsOf(now, edits);
    setConflicts(found);
    setEdits(rebaseEdits(now, edits));
    return found.length > 0;
  }

  async function save() {
    setBusy(true);
    setError(null);
    try {
      const done = await store(changes, isConflict);
      if (done === null) return;
      setEdits({});
      toasts.show({ kind: "done", text: done });
    } catch (cause) {
      setError({ cause, of: shown });
    } finally {
      setBusy(false);
    }
  }

  return {
    shown,
    set,
    errorOf,
    field: (name) => ({
      value: shown[name],
      error: errorOf(name),
      disabled: !mayChange,
      onChange: (value) => set(name, value),
    }),
    changes,
    isDirty: Object.keys(changes).length > 0,
    isBusy,
    isDisabled: !mayChange,
    conflicts,
    error: error === null ? null : describe(error.cause),
    save: () => void save(),
    discard() {
      setEdits({});
      setError(null);
      setConflicts([]);
    },
  };
}
