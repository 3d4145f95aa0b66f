import { useTexts } from "../i18n/texts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { PickList } from "../ui/pick-list.tsx";
import EMOJI from "./emoji.json";

/** Picks one of the emoji that support teams use most; others come from the keyboard of the system. */
export function EmojiPicker({ onClose, onPick }: { onClose: () => void; onPick: (sign: string) => void }) {
  const { language, t } = useTexts();
  const items = EMOJI.map(({ sign, de, en }) => {
    const words = language.startsWith("de") ? de : en;
    return {
      id: sign,
      words,
      view: (
        <>
          <span aria-hidden className="text-lg leading-none">
            {sign}
          </span>
          <span className="truncate text-muted">{words}</span>
        </>
      ),
    };
  });
  return (
    <Dialog title={t("compose.emoji")} width="small" onClose={onClose}>
      <PickList
        label={t("compose.emoji")}
        empty={t("people.none")}
        items={items}
        onPick={(sign) => {
          onClose();
          onPick(sign);
        }}
      />
    </Dialog>
  );
}
