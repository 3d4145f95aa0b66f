import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { modelsQuery } from "../api/agents.ts";
import { kbsQuery } from "../api/knowledge.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject, useRights } from "../session/services.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { CheckBox } from "../ui/choice-fields.tsx";
import { SelectField, TextArea } from "../ui/field.tsx";
import { ErrorNotice, Skeleton } from "../ui/notice.tsx";

/** What the server calls it that an agent quotes its knowledge, and no language model is asked. */
const NO_MODEL = "none";

/** Which language model an agent answers with. */
export function ModelField({
  model,
  isDisabled,
  onChange,
}: {
  model: string | null;
  isDisabled: boolean;
  onChange: (model: string | null) => void;
}) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const models = useQuery({ ...modelsQuery(connection, project), enabled: useRights()("models:read") });
  const usable = (models.data ?? []).filter(({ installed }) => installed).map(({ catalogId }) => catalogId);
  // What is chosen stays in the list, also where its provider is away.
  const ids = model === null || model === NO_MODEL || usable.includes(model) ? usable : [model, ...usable];
  return (
    <SelectField
      label={t("agents.model")}
      hint={models.isError ? t("agents.modelsAway") : t("agents.modelHint")}
      value={model ?? ""}
      disabled={isDisabled}
      onChange={({ currentTarget: { value } }) => onChange(value === "" ? null : value)}
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
  kbIds,
  error,
  isDisabled,
  onChange,
}: {
  kbIds: readonly string[];
  error: string | undefined;
  isDisabled: boolean;
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
          isDisabled={isDisabled}
          onChange={(isOn) => onChange(isOn ? [...kbIds, id] : kbIds.filter((other) => other !== id))}
        />
      ))}
      {error !== undefined && <p className="text-xs text-bad">{error}</p>}
    </fieldset>
  );
}

/** An agent may have thousands of examples: so many are shown at once. */
const SHOWN_COUNT = 50;

/** The messages that an agent should get. Several are added at once, one a line. */
export function ExamplesField({
  examples,
  error,
  isDisabled,
  onChange,
}: {
  examples: readonly string[];
  error: string | undefined;
  isDisabled: boolean;
  onChange: (examples: string[]) => void;
}) {
  const { t } = useTexts();
  const [typed, setTyped] = useState("");
  const [shown, setShown] = useState(SHOWN_COUNT);
  const lines = typed
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

  function add() {
    onChange([...new Set([...examples, ...lines])]);
    setTyped("");
  }

  return (
    <div className="flex flex-col gap-3">
      {!isDisabled && (
        <div>
          <TextArea
            label={t("agents.addExamples")}
            hint={t("agents.examplesHint")}
            error={error}
            rows={2}
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || lines.length === 0) return;
              event.preventDefault();
              add();
            }}
          />
          <Button size="small" className="mt-2" disabled={lines.length === 0} onClick={add}>
            <Plus aria-hidden className="size-3.5" />
            {t("agents.addExamplesNow")}
          </Button>
        </div>
      )}
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
              {!isDisabled && (
                <IconButton
                  icon={Trash2}
                  size="small"
                  className="mt-0.5"
                  label={t("agents.removeExample", { example: example.slice(0, 60) })}
                  onClick={() => onChange(examples.filter((_, place) => place !== index))}
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
