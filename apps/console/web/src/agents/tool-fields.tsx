import type { ToolAccess, ToolApproval, HttpTool, McpTool } from "@svc/contracts";
import { Plus, Trash2 } from "lucide-react";
import { useId, useState } from "react";
import { useTexts } from "../i18n/texts.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { ChoiceGroup } from "../ui/choice-fields.tsx";
import { Field, SelectField, TextArea } from "../ui/field.tsx";
import { MASKED_SECRET, argumentsOf, readParameters, withArgumentsOf, withMethod, readNames } from "./tool-draft.ts";
import type { HeaderRow } from "./tool-draft.ts";

/** Whether a tool changes something, and whether its calls wait for a person. */
function AccessFields({
  access,
  approval,
  onChange,
}: {
  access: ToolAccess;
  approval: ToolApproval;
  onChange: (change: { access?: ToolAccess; approval?: ToolApproval }) => void;
}) {
  const { t } = useTexts();
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <ChoiceGroup
        label={t("tools.access")}
        value={access}
        options={[
          { value: "read", label: t("tools.read") },
          { value: "write", label: t("tools.write") },
        ]}
        onChange={(value) => onChange({ access: value })}
      />
      <ChoiceGroup
        label={t("tools.approval")}
        value={approval}
        options={[
          { value: "auto", label: t("tools.auto") },
          { value: "operator", label: t("tools.operator") },
        ]}
        onChange={(value) => onChange({ approval: value })}
      />
    </div>
  );
}

type Bindings = NonNullable<HttpTool["bind"]>;
type Anonymous = NonNullable<HttpTool["anonymous"]>;

const SOURCES = ["customer.userId", "customer.email", "ticket.id", "chat.id"] as const satisfies Bindings[string][];
const ANONYMOUS = ["byArguments", "allow", "refuse"] as const satisfies readonly (Anonymous | "byArguments")[];

/** Which arguments of a tool the service fills in, and whether anonymous customers can cause its calls. */
function BindFields({
  bind = {},
  anonymous = "byArguments",
  names = [],
  onChange,
}: {
  bind?: Bindings | undefined;
  anonymous?: Anonymous | "byArguments" | undefined;
  /** Arguments to propose, if they are known. */
  names?: readonly string[];
  onChange: (change: { bind?: Bindings; anonymous?: Anonymous | undefined }) => void;
}) {
  const { t } = useTexts();
  const listId = useId();
  const [typed, setTyped] = useState("");
  const added = typed.trim();
  const sources = SOURCES.map((value) => ({ value, label: t(`tools.source.${value}`) }));
  const set = (name: string, value: string) => {
    const source = SOURCES.find((one) => one === value);
    if (source !== undefined) onChange({ bind: { ...bind, [name]: source } });
  };
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">{t("tools.bind")}</legend>
      <p className="text-xs text-muted">{t("tools.bindHint")}</p>
      {Object.entries(bind).map(([name, source]) => (
        <div key={name} className="flex items-center gap-1.5">
          <code className="min-w-0 flex-1 font-mono text-xs font-semibold wrap-anywhere">{name}</code>
          <SelectField
            label={t("tools.bindSource", { name })}
            hidesLabel
            className="min-w-0 flex-1"
            value={source}
            options={sources}
            onChange={(value) => set(name, value)}
          />
          <IconButton
            icon={Trash2}
            label={t("tools.removeBind", { name })}
            onClick={() =>
              onChange({ bind: Object.fromEntries(Object.entries(bind).filter(([other]) => other !== name)) })
            }
          />
        </div>
      ))}
      <div className="flex items-end gap-2">
        <Field
          label={t("tools.bindArgument")}
          className="min-w-0 flex-1"
          list={listId}
          spellCheck={false}
          autoComplete="off"
          value={typed}
          onChange={setTyped}
        />
        <datalist id={listId}>
          {names
            .filter((name) => !Object.hasOwn(bind, name))
            .map((name) => (
              <option key={name} value={name} />
            ))}
        </datalist>
        <Button
          icon={Plus}
          disabled={added === "" || Object.hasOwn(bind, added)}
          onClick={() => {
            set(added, SOURCES[0]);
            setTyped("");
          }}
        >
          {t("tools.addBind")}
        </Button>
      </div>
      <SelectField
        label={t("tools.anonymous")}
        hint={t("tools.anonymousHint")}
        value={anonymous}
        options={ANONYMOUS.map((value) => ({ value, label: t(`tools.anonymous.${value}`) }))}
        onChange={(value) => onChange({ anonymous: value === "allow" || value === "refuse" ? value : undefined })}
      />
    </fieldset>
  );
}

/** Headers that go with each call of a tool. Their values are secrets: one that is set is never shown. */
export function HeadersField({
  rows,
  onChange,
}: {
  rows: readonly HeaderRow[];
  onChange: (rows: readonly HeaderRow[]) => void;
}) {
  const { t } = useTexts();
  const set = (place: number, change: Partial<HeaderRow>) =>
    onChange(rows.map((row, index) => (index === place ? { ...row, ...change } : row)));
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-medium">{t("tools.headers")}</legend>
      <p className="mb-2 text-xs text-muted">{t("tools.headersHint")}</p>
      <div className="flex flex-col gap-2">
        {rows.map(({ name, value }, index) => {
          const isSet = value === MASKED_SECRET;
          return (
            <div key={index} className="flex items-end gap-1.5">
              <Field
                label={t("tools.headerName")}
                className="min-w-0 flex-1"
                value={name}
                placeholder="Authorization"
                maxLength={100}
                spellCheck={false}
                autoComplete="off"
                onChange={(value) => set(index, { name: value })}
              />
              <Field
                label={t("tools.headerValue")}
                className="min-w-0 flex-1"
                type="password"
                value={isSet ? "" : value}
                placeholder={isSet ? t("tools.isSet") : ""}
                required={!isSet && name !== ""}
                spellCheck={false}
                autoComplete="new-password"
                onChange={(value) => set(index, { value })}
              />
              <IconButton
                icon={Trash2}
                label={t("tools.removeHeader", { name: name === "" ? String(index + 1) : name })}
                onClick={() => onChange(rows.filter((_, place) => place !== index))}
              />
            </div>
          );
        })}
        <Button
          icon={Plus}
          size="small"
          className="self-start"
          onClick={() => onChange([...rows, { name: "", value: "" }])}
        >
          {t("tools.addHeader")}
        </Button>
      </div>
    </fieldset>
  );
}

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
        onChange={(value) => onChange({ ...tool, description: value })}
      />
      <div className="flex gap-2">
        <SelectField
          label={t("tools.method")}
          className="w-28 shrink-0"
          value={tool.method}
          options={METHODS.map((value) => ({ value, label: value }))}
          onChange={(value) => {
            const method = METHODS.find((other) => other === value);
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
          onChange={(value) => onChange({ ...tool, url: value })}
        />
      </div>
      <div>
        <TextArea
          label={t("tools.parameters")}
          hint={t("tools.parametersHint")}
          error={read === null ? t("tools.parametersFault") : undefined}
          rows={7}
          spellCheck={false}
          dir="ltr"
          className="[&_textarea]:font-mono [&_textarea]:text-xs"
          value={parameters}
          onChange={onParameters}
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

/** What is said of an MCP server whose tools an agent has. */
export function McpToolFields({ tool, onChange }: { tool: McpTool; onChange: (tool: McpTool) => void }) {
  const { t } = useTexts();
  const [allow, setAllow] = useState(() => tool.allow?.join("\n") ?? "");
  const [ruled, setRuled] = useState("");
  const name = ruled.trim();
  const setRule = (remote: string, change: McpTool["rules"][string]) =>
    onChange({ ...tool, rules: { ...tool.rules, [remote]: { ...tool.rules[remote], ...change } } });
  return (
    <>
      <Field
        label={t("tools.url")}
        hint={t("tools.mcpUrlHint")}
        placeholder="https://stock.example.com/mcp"
        required
        spellCheck={false}
        autoComplete="off"
        value={tool.url}
        onChange={(value) => onChange({ ...tool, url: value })}
      />
      <TextArea
        label={t("tools.allow")}
        hint={t("tools.allowHint")}
        rows={3}
        spellCheck={false}
        value={allow}
        onChange={(value) => {
          setAllow(value);
          onChange({ ...tool, allow: readNames(value) });
        }}
      />
      <fieldset className="flex flex-col gap-3">
        <legend className="mb-1 text-sm font-medium">{t("tools.rules")}</legend>
        <p className="text-xs text-muted">{t("tools.rulesHint")}</p>
        {Object.entries(tool.rules).map(([remote, { access = "write", approval = "operator", bind, anonymous }]) => (
          <div key={remote} className="rounded-lg border border-line p-3">
            <div className="mb-2 flex items-center justify-between gap-2">
              <code className="min-w-0 font-mono text-xs font-semibold wrap-anywhere">{remote}</code>
              <IconButton
                icon={Trash2}
                size="small"
                label={t("tools.removeRule", { name: remote })}
                onClick={() =>
                  onChange({
                    ...tool,
                    rules: Object.fromEntries(Object.entries(tool.rules).filter(([other]) => other !== remote)),
                  })
                }
              />
            </div>
            <div className="flex flex-col gap-4">
              <AccessFields access={access} approval={approval} onChange={(change) => setRule(remote, change)} />
              <BindFields bind={bind} anonymous={anonymous} onChange={(change) => setRule(remote, change)} />
            </div>
          </div>
        ))}
        <div className="flex items-end gap-2">
          <Field
            label={t("tools.ruleFor")}
            className="min-w-0 flex-1"
            spellCheck={false}
            autoComplete="off"
            value={ruled}
            onChange={setRuled}
          />
          <Button
            icon={Plus}
            disabled={name === "" || Object.hasOwn(tool.rules, name)}
            onClick={() => {
              setRule(name, { access: "write", approval: "operator" });
              setRuled("");
            }}
          >
            {t("tools.addRule")}
          </Button>
        </div>
      </fieldset>
    </>
  );
}
