import type { HttpTool } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { ChoiceGroup } from "../ui/choice-group.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { AccessFields } from "./access-fields.tsx";
import { BindFields } from "./bind-fields.tsx";
import { argumentsOf, readParameters, withArgumentsOf, withMethod } from "./tool-draft.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const satisfies readonly HttpTool["method"][];

/** What is said of a tool that is one HTTP request. */
export function HttpToolFields({
  tool,
  parameters,
  onChange,
  onParameters,
}: {
  tool: HttpTool;
  /** The JSON Schema as it is typed. */
  parameters: string;
  onChange: (tool: HttpTool) => void;
  onParameters: (text: string) => void;
}) {
  const { t } = useTexts();
  const read = readParameters(parameters);
  return (
    <>
      <TextArea
        label={t("tools.description")}
        hint={t("tools.descriptionHint")}
        rows={2}
        maxLength={2_000}
        required
        value={tool.description}
        onChange={({ currentTarget }) => onChange({ ...tool, description: currentTarget.value })}
      />
      <div className="flex gap-2">
        <SelectField
          label={t("tools.method")}
          className="w-28 shrink-0"
          value={tool.method}
          options={METHODS.map((value) => ({ value, label: value }))}
          onChange={({ currentTarget }) => {
            const method = METHODS.find((other) => other === currentTarget.value);
            if (method !== undefined) onChange(withMethod(tool, method));
          }}
        />
        <Field
          label={t("tools.url")}
          hint={t("tools.urlHint")}
          className="min-w-0 flex-1"
          placeholder="https://api.example.com/orders/{orderId}"
          required
          spellCheck={false}
          autoComplete="off"
          value={tool.url}
          onChange={({ currentTarget }) => onChange({ ...tool, url: currentTarget.value })}
        />
      </div>
      <div>
        <TextArea
          label={t("tools.parameters")}
          hint={t("tools.parametersHint")}
          fault={read === null ? t("tools.parametersFault") : undefined}
          rows={7}
          spellCheck={false}
          dir="ltr"
          className="[&_textarea]:font-mono [&_textarea]:text-xs"
          value={parameters}
          onChange={({ currentTarget }) => onParameters(currentTarget.value)}
        />
        <Button
          size="small"
          className="mt-1.5"
          disabled={read === null}
          onClick={() => read !== null && onParameters(JSON.stringify(withArgumentsOf(tool.url, read), null, 2))}
        >
          {t("tools.fromUrl")}
        </Button>
      </div>
      {tool.method !== "GET" && (
        <ChoiceGroup
          label={t("tools.body")}
          hint={t("tools.bodyHint")}
          value={tool.body}
          options={[
            { value: "json", label: "JSON" },
            { value: "none", label: t("tools.noBody") },
          ]}
          onChange={(body) => onChange({ ...tool, body })}
        />
      )}
      <BindFields
        bind={tool.bind}
        anonymous={tool.anonymous}
        names={read === null ? [] : argumentsOf(read)}
        onChange={(change) => onChange({ ...tool, ...change })}
      />
      <AccessFields
        access={tool.access}
        approval={tool.approval}
        onChange={(change) => onChange({ ...tool, ...change })}
      />
    </>
  );
}
