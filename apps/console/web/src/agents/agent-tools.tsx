import { useState } from "react";
import type { AgentTool } from "@svc/contracts";
import { Pencil, Plus, Trash2 } from "lucide-react";
import { FormDialog, FormError } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
import { TOOL_NAME, headersOf, readParameters, rowsOf, NEW_TOOLS } from "./tool-draft.ts";
import { HeadersField, HttpToolFields, McpToolFields } from "./tool-fields.tsx";

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
