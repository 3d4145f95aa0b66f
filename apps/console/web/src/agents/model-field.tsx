import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "../api/agents.ts";
import { useServices } from "../app/services.ts";
import { useProject, useRights } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { SelectField } from "../ui/field.tsx";

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
