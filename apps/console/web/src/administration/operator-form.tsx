import { useId, useState } from "react";
import type { SubmitEvent } from "react";
import type { Operator } from "@svc/contracts";
import { useServices } from "../app/services.ts";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { FormFault } from "./form-fault.tsx";
import { RolesField } from "./roles-field.tsx";
import type { Role } from "./roles-field.tsx";
import { useAction } from "./use-action.ts";

/** Makes an operator, or changes the one that is given. */
export function OperatorForm({
  item,
  onSaved,
  onClose,
}: {
  item: Operator | null;
  onSaved: (operator: Operator) => void;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const project = useProject();
  const formId = useId();
  const [name, setName] = useState(item?.name ?? "");
  const [email, setEmail] = useState(item?.email ?? "");
  const [roles, setRoles] = useState<Role[]>(item?.roles ?? [{ project, role: "operator" }]);
  const { fault, isBusy, run } = useAction();
  const title = item === null ? t("operators.make") : t("operators.change", { name: item.name });

  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const body = { name: name.trim(), email: email.trim(), roles };
    await run(async () => {
      const answer =
        item === null
          ? await connection.call("createOperator", null, { body })
          : await connection.call("updateOperator", null, { params: { id: item.id }, body, ifMatch: item.version });
      void queryClient.invalidateQueries({ queryKey: ["operators"] });
      // It may be oneself.
      void queryClient.invalidateQueries({ queryKey: ["session"] });
      onSaved(answer.item);
    });
  }

  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button type="submit" form={formId} look="primary" isBusy={isBusy}>
            {t(item === null ? "operators.make" : "ui.save")}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={(event) => void submit(event)} className="flex flex-col gap-4 p-4">
        <Field
          label={t("operators.name")}
          value={name}
          maxLength={200}
          required
          autoComplete="off"
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Field
          label={t("operators.email")}
          hint={t("operators.emailHint")}
          type="email"
          value={email}
          maxLength={254}
          required
          autoComplete="off"
          onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        />
        <RolesField roles={roles} onChange={setRoles} />
        <FormFault fault={fault} />
      </form>
    </Dialog>
  );
}
