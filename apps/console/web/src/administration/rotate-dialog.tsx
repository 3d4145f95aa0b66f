import { useState } from "react";
import type { KeyItem } from "@svc/contracts";
import { useServices } from "../app/services.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { SelectField } from "../ui/field.tsx";
import { FormFault } from "./form-fault.tsx";
import { useAction } from "./use-action.ts";

const HOUR_SECONDS = 3_600;
/** How long the old key works on. */
const OVERLAPS = [0, HOUR_SECONDS, 24 * HOUR_SECONDS, 7 * 24 * HOUR_SECONDS] as const;

/** Makes a key in the place of another one. */
export function RotateDialog({
  item: { id, name },
  onMade,
  onClose,
}: {
  item: KeyItem;
  onMade: (key: string) => void;
  onClose: () => void;
}) {
  const { duration, t } = useTexts();
  const { connection, queryClient } = useServices();
  const [overlapSeconds, setOverlap] = useState<number>(24 * HOUR_SECONDS);
  const { fault, isBusy, run } = useAction();

  const rotate = () =>
    run(async () => {
      const { item } = await connection.call("rotateKey", null, { params: { id }, body: { overlapSeconds } });
      void queryClient.invalidateQueries({ queryKey: ["keys"] });
      onMade(item.key ?? "");
    });

  return (
    <Dialog
      title={t("adminKeys.rotate", { name })}
      width="small"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button look="primary" isBusy={isBusy} onClick={() => void rotate()}>
            {t("adminKeys.rotateNow")}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4 p-4">
        <p className="text-sm">{t("adminKeys.rotateText")}</p>
        <SelectField
          label={t("adminKeys.overlap")}
          value={String(overlapSeconds)}
          options={OVERLAPS.map((seconds) => ({
            value: String(seconds),
            label: seconds === 0 ? t("adminKeys.overlapNone") : duration(seconds * 1_000),
          }))}
          onChange={({ currentTarget }) => setOverlap(Number(currentTarget.value))}
        />
        <FormFault fault={fault} />
      </div>
    </Dialog>
  );
}
