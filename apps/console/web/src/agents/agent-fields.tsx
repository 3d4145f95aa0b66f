import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { AgentTool } from "@svc/contracts";
import { modelsQuery } from "../api/administration.ts";
import { kbsQuery } from "../api/knowledge.ts";
import { FormDialog, FormError } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { useProject, useRights, useServices } from "../session/services.ts";
import { Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { CheckBox } from "../ui/choice-fields.tsx";
import { Field, SelectField, TextArea } from "../ui/field.tsx";
import { ErrorNotice, Notice, Skeleton } from "../ui/notice.tsx";
import { headersOf, NEW_TOOLS, readNames, readParameters, rowsOf, TOOL_NAME } from "./tool-draft.ts";
import { HeadersField, HttpToolFields, McpToolFields } from "./tool-fields.tsx";

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

/** Creates a tool of an agent, or changes one. It is saved with the agent. */
function ToolDialog({
  tool: first,
  isNew,
  takenNames,
  onDone,
  onClose,
}: {
  tool: AgentTool;
  isNew: boolean;
  takenNames: readonly string[];
  onDone: (tool: AgentTool) => void;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const [tool, setTool] = useState(first);
  const [rows, setRows] = useState(() => rowsOf(first.headers));
  const [parameters, setParameters] = useState(() =>
    JSON.stringify(first.type === "http" ? first.parameters : {}, null, 2),
  );
  const [isTried, setTried] = useState(false);
  const isTaken = takenNames.includes(tool.name);

  function submit() {
    setTried(true);
    const read = readParameters(parameters);
    if (isTaken || read === null) return;
    const headers = headersOf(rows);
    onDone(tool.type === "http" ? { ...tool, headers, parameters: read } : { ...tool, headers });
  }

  return (
    <FormDialog
      title={isNew ? t(`tools.new.${first.type}`) : t("tools.change", { name: first.name })}
      action={t(isNew ? "tools.add" : "tools.take")}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={t("tools.name")}
        hint={t(tool.type === "http" ? "tools.nameHint" : "tools.mcpNameHint")}
        error={isTried && isTaken ? t("tools.nameTaken") : undefined}
        value={tool.name}
        pattern={TOOL_NAME}
        title={t("tools.nameHint")}
        required
        spellCheck={false}
        autoComplete="off"
        onChange={(value) => setTool({ ...tool, name: value })}
      />
      {tool.type === "http" ? (
        <HttpToolFields tool={tool} parameters={parameters} onChange={setTool} onParameters={setParameters} />
      ) : (
        <McpToolFields tool={tool} onChange={setTool} />
      )}
      <HeadersField rows={rows} onChange={(next) => setRows([...next])} />
      {!isNew && Object.keys(first.headers).length > 0 && tool.name !== first.name && (
        <Notice variant="warn">{t("tools.secretsLost")}</Notice>
      )}
    </FormDialog>
  );
}

const KINDS = ["http", "mcp"] as const satisfies readonly AgentTool["type"][];

function ToolRow({
  tool,
  disabled,
  onChange,
  onRemove,
}: {
  tool: AgentTool;
  disabled: boolean;
  onChange: () => void;
  onRemove: () => void;
}) {
  const { t } = useTexts();
  const { name } = tool;
  return (
    <li className="flex items-start gap-2 py-2 pr-1.5 pl-3">
      <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-2 gap-y-1 text-sm">
        <code className="font-mono text-xs font-semibold wrap-anywhere">{name}</code>
        <Badge>{tool.type === "http" ? tool.method : "MCP"}</Badge>
        {tool.type === "http" && tool.access === "write" && <Badge tone="warn">{t("tool.write")}</Badge>}
        {tool.type === "http" && tool.approval === "operator" && <Badge tone="accent">{t("agents.asks")}</Badge>}
        <span className="w-full text-xs wrap-anywhere text-muted">{tool.url}</span>
      </div>
      {!disabled && (
        <>
          <IconButton icon={Pencil} size="small" label={t("tools.change", { name })} onClick={onChange} />
          <IconButton icon={Trash2} size="small" label={t("tools.remove", { name })} onClick={onRemove} />
        </>
      )}
    </li>
  );
}

/** The tool in the dialog: the index of one in the list, or the kind of a new one. */
type Open = { index: number } | { kind: AgentTool["type"] } | null;

/** The tools that an agent's language model may call. Changes are saved with the agent. */
export function AgentTools({
  value: tools,
  error,
  disabled,
  onChange,
}: {
  value: readonly AgentTool[];
  error: string | undefined;
  disabled: boolean;
  onChange: (tools: AgentTool[]) => void;
}) {
  const { t } = useTexts();
  const [open, setOpen] = useState<Open>(null);
  const openIndex = open !== null && "index" in open ? open.index : tools.length;
  const opened = open === null ? undefined : "kind" in open ? NEW_TOOLS[open.kind] : tools[open.index];
  return (
    <div className="flex flex-col gap-3">
      {tools.length === 0 ? (
        <p className="text-sm text-muted">{t("agents.noTools")}</p>
      ) : (
        <ul className="divide-y divide-line rounded-lg border border-line">
          {tools.map((tool, index) => (
            <ToolRow
              key={tool.name}
              tool={tool}
              disabled={disabled}
              onChange={() => setOpen({ index })}
              onRemove={() => onChange(tools.filter((_, other) => other !== index))}
            />
          ))}
        </ul>
      )}
      <FormError error={error ?? null} />
      {!disabled && (
        <div className="flex flex-wrap gap-2">
          {KINDS.map((kind) => (
            <Button icon={Plus} key={kind} size="small" onClick={() => setOpen({ kind })}>
              {t(`tools.new.${kind}`)}
            </Button>
          ))}
        </div>
      )}
      {opened !== undefined && (
        <ToolDialog
          tool={opened}
          isNew={openIndex === tools.length}
          takenNames={tools.filter((_, index) => index !== openIndex).map(({ name }) => name)}
          onDone={(tool) => {
            onChange([...tools.slice(0, openIndex), tool, ...tools.slice(openIndex + 1)]);
            setOpen(null);
          }}
          onClose={() => setOpen(null)}
        />
      )}
    </div>
  );
}
