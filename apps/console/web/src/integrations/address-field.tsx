import { useTexts } from "../i18n/use-texts.ts";
import { Field } from "../ui/field.tsx";
import type { useAddress } from "./use-address.ts";

/** Where to say the address that a part has outside, for whoever has a proxy before it. */
export function AddressField({ address }: { address: ReturnType<typeof useAddress> }) {
  const { t } = useTexts();
  const { isWrong, said, say, usual } = address;
  return (
    <Field
      label={t("address.label")}
      hint={t("address.hint")}
      fault={isWrong ? t("address.wrong") : undefined}
      type="url"
      inputMode="url"
      spellCheck={false}
      value={said}
      placeholder={usual}
      onChange={({ currentTarget }) => say(currentTarget.value)}
      className="mt-3 max-w-lg"
    />
  );
}
