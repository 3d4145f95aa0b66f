import type { ToolAccess, ToolApproval, HttpTool, McpTool } from "@svc/contracts";
import { Plus, Trash2 } from "lucide-react";
import { useId, useState } from "react";
import { useTexts } from "../i18n/texts.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { ChoiceGroup } from "../ui/choice-fields.tsx";
import { Field, SelectField, TextArea } from "../ui/field.tsx";
import { MASKED_SECRET, argumentsOf, readParameters, withArgumentsOf, withMethod, readNames } from "./tool-draft.ts";
import type { HeaderRow } from "./tool-draft.ts";

/** Whether a tool changes something, and whether its calls wait for an operator. */
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

/** Returns a record without one of its keys. */
const without = <Value,>(record: Readonly<Record<string, Value>>, name: string): Record<string, Value> =>
  Object.fromEntries(Object.entries(record).filter(([other]) => other !== name));

/** A field for a new name, with a button that adds it. */
function NewNameField({
  label,
  action,
  taken,
  proposed = [],
  onAdd,
}: {
  label: string;
  action: string;
  taken: readonly string[];
  proposed?: readonly string[];
  onAdd: (name: string) => void;
}) {
  const listId = useId();
  const [typed, setTyped] = useState("");
  const name = typed.trim();
  function add() {
    onAdd(name);
    setTyped("");
  }
  return (
    <div className="flex items-end gap-2">
      <Field
        label={label}
        className="min-w-0 flex-1"
        list={listId}
        spellCheck={false}
        autoComplete="off"
        value={typed}
        onChange={setTyped}
      />
      <datalist id={listId}>
        {proposed
          .filter((other) => !taken.includes(other))
          .map((other) => (
            <option key={other} value={other} />
          ))}
      </datalist>
      <Button icon={Plus} disabled={name === "" || taken.includes(name)} onClick={add}>
        {action}
      </Button>
    </div>
  );
}

/** Arguments of a tool that the service fills in, and whether anonymous customers can trigger its calls. */
function BindFields({
  bind = {},
  anonymous = "byArguments",
  names = [],
  onChange,
}: {
  bind?: Bindings | undefined;
  anonymous?: Anonymous | "byArguments" | undefined;
  /** Suggested arguments, if they are known. */
  names?: readonly string[];
  onChange: (change: { bind?: Bindings; anonymous?: Anonymous | undefined }) => void;
}) {
  const { t } = useTexts();
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
            onClick={() => onChange({ bind: without(bind, name) })}
          />
        </div>
      ))}
      <NewNameField
        label={t("tools.bindArgument")}
        action={t("tools.addBind")}
        taken={Object.keys(bind)}
        proposed={names}
        onAdd={(name) => set(name, SOURCES[0])}
      />
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

/** Headers of each call of a tool. Their values are secrets: a stored one is never shown. */
export function HeadersField({
  rows,
  onChange,
}: {
  rows: readonly HeaderRow[];
  onChange: (rows: readonly HeaderRow[]) => void;
}) {
  const { t } = useTexts();
  const set = (position: number, change: Partial<HeaderRow>) =>
    onChange(rows.map((row, index) => (index === position ? { ...row, ...change } : row)));
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
                onClick={() => onChange(rows.filter((_, position) => position !== index))}
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

/** The JSON Schema of a tool's parameters as text. */
function ParametersField({ url, value, onChange }: { url: string; value: string; onChange: (text: string) => void }) {
  const { t } = useTexts();
  const read = readParameters(value);
  return (
    <div>
      <TextArea
        label={t("tools.parameters")}
        hint={t("tools.parametersHint")}
        error={read === null ? t("tools.parametersFault") : undefined}
        rows={7}
        spellCheck={false}
        dir="ltr"
        className="[&_textarea]:font-mono [&_textarea]:text-xs"
        value={value}
        onChange={onChange}
      />
      <Button
        size="small"
        className="mt-1.5"
        disabled={read === null}
        onClick={() => read !== null && onChange(JSON.stringify(withArgumentsOf(url, read), null, 2))}
      >
        {t("tools.fromUrl")}
      </Button>
    </div>
  );
}

/** Method and URL of a request. */
function RequestFields({ tool, onChange }: { tool: HttpTool; onChange: (tool: HttpTool) => void }) {
  const { t } = useTexts();
  return (
    <div className="flex gap-2">
      <SelectField
        label={t("tools.method")}
        className="w-28 shrink-0"
        value={tool.method}
        options={METHODS.map((value) => ({ value, label: value }))}
        onChange={(method) => onChange(withMethod(tool, method))}
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
  );
}

/** The fields of a tool that sends one HTTP request. */
export function HttpToolFields({
  tool,
  parameters,
  onChange,
  onParameters,
}: {
  tool: HttpTool;
  /** The JSON Schema as text. */
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
      <RequestFields tool={tool} onChange={onChange} />
      <ParametersField url={tool.url} value={parameters} onChange={onParameters} />
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

/** The rule for one tool of an MCP server. */
function RuleFields({
  name,
  rule: { access = "write", approval = "operator", bind, anonymous },
  onChange,
  onRemove,
}: {
  name: string;
  rule: McpTool["rules"][string];
  onChange: (change: McpTool["rules"][string]) => void;
  onRemove: () => void;
}) {
  const { t } = useTexts();
  return (
    <div className="rounded-lg border border-line p-3">
      <div className="mb-2 flex items-center justify-between gap-2">
        <code className="min-w-0 font-mono text-xs font-semibold wrap-anywhere">{name}</code>
        <IconButton icon={Trash2} size="small" label={t("tools.removeRule", { name })} onClick={onRemove} />
      </div>
      <div className="flex flex-col gap-4">
        <AccessFields access={access} approval={approval} onChange={onChange} />
        <BindFields bind={bind} anonymous={anonymous} onChange={onChange} />
      </div>
    </div>
  );
}

/** The fields of an MCP server whose tools an agent uses. */
export function McpToolFields({ tool, onChange }: { tool: McpTool; onChange: (tool: McpTool) => void }) {
  const { t } = useTexts();
  const [allow, setAllow] = useState(() => tool.allow?.join("\n") ?? "");
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
        {Object.entries(tool.rules).map(([remote, rule]) => (
          <RuleFields
            key={remote}
            name={remote}
            rule={rule}
            onChange={(change) => setRule(remote, change)}
            onRemove={() => onChange({ ...tool, rules: without(tool.rules, remote) })}
          />
        ))}
        <NewNameField
          label={t("tools.ruleFor")}
          action={t("tools.addRule")}
          taken={Object.keys(tool.rules)}
          onAdd={(name) => setRule(name, { access: "write", approval: "operator" })}
        />
      </fieldset>
    </>
  );
}
