import { useId, useState } from "react";
import type { SubmitEvent } from "react";
import type { AgentTool } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
import { HeadersField } from "./headers-field.tsx";
import { HttpToolFields } from "./http-tool-fields.tsx";
import { McpToolFields } from "./mcp-tool-fields.tsx";
import { TOOL_NAME, headersOf, readParameters, rowsOf } from "./tool-draft.ts";

/** Makes a tool of an agent, or changes one. Nothing is saved before the agent is. */
export function ToolDialog({
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
  const formId = useId();
  const [tool, setTool] = useState(first);
  const [rows, setRows] = useState(() => rowsOf(first.headers));
  const [parameters, setParameters] = useState(() =>
    JSON.stringify(first.type === "http" ? first.parameters : {}, null, 2),
  );
  const [isTried, setTried] = useState(false);
  const isTaken = takenNames.includes(tool.name);

  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    setTried(true);
    const read = readParameters(parameters);
    if (isTaken || read === null) return;
    const headers = headersOf(rows);
    onDone(tool.type === "http" ? { ...tool, headers, parameters: read } : { ...tool, headers });
  }

  return (
    <Dialog
      title={isNew ? t(`tools.new.${first.type}`) : t("tools.change", { name: first.name })}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button type="submit" form={formId} look="primary">
            {t(isNew ? "tools.add" : "tools.take")}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={submit} className="flex flex-col gap-4 p-4">
        <Field
          label={t("tools.name")}
          hint={t(tool.type === "http" ? "tools.nameHint" : "tools.mcpNameHint")}
          fault={isTried && isTaken ? t("tools.nameTaken") : undefined}
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
      </form>
    </Dialog>
  );
}
