import { useQuery } from "@tanstack/react-query";
import { ServiceFault } from "@svc/client";
import { useId, useState } from "react";
import type { SubmitEvent } from "react";
import type { ProjectItem } from "@svc/contracts";
import { useServices } from "../app/services.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { Field } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { FormFault } from "./form-fault.tsx";
import { useAction } from "./use-action.ts";

/** Where the server begins to say how a program agrees, which nobody here needs. */
const HOW_TO_AGREE = /\s*To agree, send .*$/s;

/** Says what would be deleted with a project, and deletes it once its name is typed. */
export function DeleteProjectDialog({
  item: { id, name, version },
  onDeleted,
  onClose,
}: {
  item: ProjectItem;
  onDeleted: () => void;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const { connection } = useServices();
  const formId = useId();
  const [typed, setTyped] = useState("");
  const { fault, isBusy, run } = useAction();
  // Asked with an empty confirmation, which no project has as its name, the server refuses and counts what it holds.
  const held = useQuery({
    queryKey: ["project-held", id],
    gcTime: 0,
    staleTime: Infinity,
    retry: false,
    queryFn: async () => {
      try {
        await connection.call("deleteProject", null, { params: { id }, body: { confirm: "" }, ifMatch: version });
      } catch (cause) {
        const isAsked = cause instanceof ServiceFault && cause.errors.some(({ code }) => code === "not_confirmed");
        if (isAsked) return cause.detail.replace(HOW_TO_AGREE, "");
        throw cause;
      }
      return "";
    },
  });

  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (typed !== name) return;
    await run(async () => {
      await connection.call("deleteProject", null, { params: { id }, body: { confirm: typed }, ifMatch: version });
      onDeleted();
    });
  }

  return (
    <Dialog
      title={t("projects.delete", { name })}
      width="small"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button
            type="submit"
            form={formId}
            look="danger"
            isBusy={isBusy}
            disabled={typed !== name || !held.isSuccess}
          >
            {t("projects.deleteNow")}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={(event) => void submit(event)} className="flex flex-col gap-4 p-4">
        {held.isPending && <Skeleton className="h-12 w-full rounded-lg" />}
        {held.isError && <FaultNotice fault={held.error} />}
        {held.isSuccess && <Notice look="bad">{held.data}</Notice>}
        <p className="text-sm">{t("projects.deleteText")}</p>
        <Field
          label={t("projects.typeName", { name })}
          value={typed}
          autoComplete="off"
          spellCheck={false}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <FormFault fault={fault} />
      </form>
    </Dialog>
  );
}
