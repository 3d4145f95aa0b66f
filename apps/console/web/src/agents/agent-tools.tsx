import { useState } from "react";
import type { AgentTool } from "@svc/contracts";
import { Pencil, Plus, Trash2 } from "lucide-react";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
import { TOOL_NAME, headersOf, readParameters, rowsOf, NEW_TOOLS } from "./tool-draft.ts";
import { HeadersField, HttpToolFields, McpToolFields } from "./tool-fields.tsx";

/** Makes a tool of an agent, or changes one. Nothing is saved before the agent is. */
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
        onChange={({ currentTarget }) => setTool({ ...tool, name: currentTarget.value })}
      />
      {tool.type === "http" ? (
        <HttpToolFields tool={tool} parameters={parameters} onChange={setTool} onParameters={setParameters} />
      ) : (
        <McpToolFields tool={tool} onChange={setTool} />
      )}
      <HeadersField rows={rows} onChange={(next) => setRows([...next])} />
      {!isNew && Object.keys(first.headers).length > 0 && tool.name !== first.name && (
        <Notice look="warn">{t("tools.secretsLost")}</Notice>
      )}
    </FormDialog>
  );
}

const KINDS = ["http", "mcp"] as const satisfies readonly AgentTool["type"][];

/** Which tool is being written: one of the list by its place, or a new one. */
type Open = { place: number } | { kind: AgentTool["type"] } | null;

/** What an agent's language model may call. Changes are saved with the agent. */
export function AgentTools({
  tools,
  error,
  isDisabled,
  onChange,
}: {
  tools: readonly AgentTool[];
  error: string | undefined;
  isDisabled: boolean;
  onChange: (tools: AgentTool[]) => void;
}) {
  const { t } = useTexts();
  const [open, setOpen] = useState<Open>(null);
  const place = open !== null && "place" in open ? open.place : tools.length;
  const opened = open === null ? undefined : "kind" in open ? NEW_TOOLS[open.kind] : tools[open.place];
  return (
    <div className="flex flex-col gap-3">
      {tools.length === 0 ? (
        <p className="text-sm text-muted">{t("agents.noTools")}</p>
      ) : (
        <ul className="divide-y divide-line rounded-lg border border-line">
          {tools.map((tool, index) => (
            <li key={tool.name} className="flex items-start gap-2 py-2 pr-1.5 pl-3">
              <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-2 gap-y-1 text-sm">
                <code className="font-mono text-xs font-semibold wrap-anywhere">{tool.name}</code>
                <Badge>{tool.type === "http" ? tool.method : "MCP"}</Badge>
                {tool.type === "http" && tool.access === "write" && <Badge tone="warn">{t("tool.write")}</Badge>}
                {tool.type === "http" && tool.approval === "operator" && (
                  <Badge tone="accent">{t("agents.asks")}</Badge>
                )}
                <span className="w-full text-xs wrap-anywhere text-muted">{tool.url}</span>
              </div>
              {!isDisabled && (
                <>
                  <IconButton
                    icon={Pencil}
                    size="small"
                    label={t("tools.change", { name: tool.name })}
                    onClick={() => setOpen({ place: index })}
                  />
                  <IconButton
                    icon={Trash2}
                    size="small"
                    label={t("tools.remove", { name: tool.name })}
                    onClick={() => onChange(tools.filter((_, other) => other !== index))}
                  />
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {error !== undefined && (
        <p role="alert" className="text-xs wrap-anywhere text-bad">
          {error}
        </p>
      )}
      {!isDisabled && (
        <div className="flex flex-wrap gap-2">
          {KINDS.map((kind) => (
            <Button key={kind} size="small" onClick={() => setOpen({ kind })}>
              <Plus aria-hidden className="size-3.5" />
              {t(`tools.new.${kind}`)}
            </Button>
          ))}
        </div>
      )}
      {opened !== undefined && (
        <ToolDialog
          tool={opened}
          isNew={place === tools.length}
          takenNames={tools.filter((_, index) => index !== place).map(({ name }) => name)}
          onDone={(tool) => {
            onChange([...tools.slice(0, place), tool, ...tools.slice(place + 1)]);
            setOpen(null);
          }}
          onClose={() => setOpen(null)}
        />
      )}
    </div>
  );
}
