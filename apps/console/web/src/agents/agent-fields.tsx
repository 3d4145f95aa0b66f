import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { modelsQuery } from "../api/administration.ts";
import { kbsQuery } from "../api/knowledge.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject, useRights } from "../session/services.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { CheckBox } from "../ui/choice-fields.tsx";
import { SelectField, TextArea } from "../ui/field.tsx";
import { ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { readNames } from "./tool-draft.ts";

/** Value for an agent that quotes its knowledge without a language model. */
const NO_MODEL = "none";

/** The language model of an agent. */
export function ModelField({
  value: model,
  disabled,
  onChange,
}: {
  value: string | null;
  disabled: boolean;
  onChange: (model: string | null) => void;
}) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const models = useQuery({ ...modelsQuery(connection, project), enabled: useRights()("models:read") });
  const usable = (models.data ?? []).filter(({ installed }) => installed).map(({ catalogId }) => catalogId);
  // The chosen model stays in the list if its provider is unavailable.
  const ids = model === null || model === NO_MODEL || usable.includes(model) ? usable : [model, ...usable];
  return (
    <SelectField
      label={t("agents.model")}
      hint={models.isError ? t("agents.modelsAway") : t("agents.modelHint")}
      value={model ?? ""}
      disabled={disabled}
      onChange={(value) => onChange(value === "" ? null : value)}
      options={[
        { value: "", label: t("agents.modelDefault") },
        { value: NO_MODEL, label: t("agents.modelNone") },
        ...ids.map((id) => ({ value: id, label: id })),
      ]}
    />
  );
}

/** The knowledge bases that an agent answers from. */
export function BasesField({
  value: kbIds,
  error,
  disabled,
  onChange,
}: {
  value: readonly string[];
  error: string | undefined;
  disabled: boolean;
  onChange: (kbIds: string[]) => void;
}) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const kbs = useQuery(kbsQuery(connection, project));
  if (kbs.isPending) return <Skeleton className="h-10 w-full" />;
  if (kbs.data === undefined) return <ErrorNotice error={kbs.error} onRetry={() => void kbs.refetch()} />;
  if (kbs.data.length === 0) {
    return (
      <p className="text-sm text-muted">
        {t("agents.noBases")}{" "}
        <Link to="/$project/knowledge" params={{ project }} className="font-medium text-accent hover:underline">
          {t("nav.knowledge")}
        </Link>
      </p>
    );
  }
  return (
    <fieldset className="flex flex-col gap-2.5">
      <legend className="sr-only">{t("nav.knowledge")}</legend>
      {kbs.data.map(({ documents, id, name }) => (
        <CheckBox
          key={id}
          label={<span dir="auto">{name}</span>}
          hint={t("knowledge.documents", { n: documents })}
          isOn={kbIds.includes(id)}
          disabled={disabled}
          onChange={(isOn) => onChange(isOn ? [...kbIds, id] : kbIds.filter((other) => other !== id))}
        />
      ))}
      {error !== undefined && <p className="text-xs text-bad">{error}</p>}
    </fieldset>
  );
}

/** Number of examples shown initially; a button shows more, because an agent may have thousands. */
const SHOWN_COUNT = 50;

/** Adds examples: several at once, one per line. */
function AddExamples({ error, onAdd }: { error: string | undefined; onAdd: (examples: string[]) => void }) {
  const { t } = useTexts();
  const [typed, setTyped] = useState("");
  const lines = readNames(typed) ?? [];
  function add() {
    onAdd(lines);
    setTyped("");
  }
  return (
    <div>
      <TextArea
        label={t("agents.addExamples")}
        hint={t("agents.examplesHint")}
        error={error}
        rows={2}
        value={typed}
        onChange={setTyped}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || lines.length === 0) return;
          event.preventDefault();
          add();
        }}
      />
      <Button icon={Plus} size="small" className="mt-2" disabled={lines.length === 0} onClick={add}>
        {t("agents.addExamplesNow")}
      </Button>
    </div>
  );
}

/** Example messages for an agent. */
export function ExamplesField({
  value: examples,
  error,
  disabled,
  onChange,
}: {
  value: readonly string[];
  error: string | undefined;
  disabled: boolean;
  onChange: (examples: string[]) => void;
}) {
  const { t } = useTexts();
  const [shown, setShown] = useState(SHOWN_COUNT);
  return (
    <div className="flex flex-col gap-3">
      {!disabled && <AddExamples error={error} onAdd={(added) => onChange([...new Set([...examples, ...added])])} />}
      {examples.length === 0 ? (
        <p className="text-sm text-muted">{t("agents.noExamples")}</p>
      ) : (
        <ul
          aria-label={t("agents.examples")}
          className="max-h-80 divide-y divide-line overflow-y-auto rounded-lg border border-line"
        >
          {examples.slice(0, shown).map((example, index) => (
            <li key={index} className="flex items-start gap-2 py-1 pr-1 pl-3 text-sm">
              <span className="min-w-0 flex-1 py-1 wrap-anywhere whitespace-pre-line" dir="auto">
                {example}
              </span>
              {!disabled && (
                <IconButton
                  icon={Trash2}
                  size="small"
                  className="mt-0.5"
                  label={t("agents.removeExample", { example: example.slice(0, 60) })}
                  onClick={() => onChange(examples.filter((_, other) => other !== index))}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {examples.length > shown && (
        <Button size="small" className="self-start" onClick={() => setShown(shown + SHOWN_COUNT)}>
          {t("ui.more")}
        </Button>
      )}
    </div>
  );
}
