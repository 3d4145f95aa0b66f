/** Outlines in a box of 24 by 24. */
const PATHS = {
  close: "M6 6l12 12M18 6L6 18",
  send: "M5 12h14M12 5l7 7-7 7",
  attach: "M20 11l-9 9a5 5 0 0 1-7-7l9-9a3 3 0 0 1 5 5l-9 8a1 1 0 0 1-2-2l7-7",
  file: "M12 4v11M7 11l5 5 5-5M5 20h14",
  soundOff: "M5 10v4h3l4 4V6l-4 4zM16 9q3 3 0 6",
  soundOn: "M5 10v4h3l4 4V6l-4 4zM4 3l17 18",
} as const;

/** An icon in the color of the text around it. It says nothing: its button has a name. */
export const Icon = ({ name }: { name: keyof typeof PATHS }) => (
  <svg viewBox="0 0 24 24" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);

/** A button that shows an icon. Its name is seen where a mouse rests on it. */
export const IconButton = ({
  icon,
  name,
  isOff = false,
  onPress,
}: {
  icon: keyof typeof PATHS;
  name: string;
  isOff?: boolean;
  onPress: (event: { currentTarget: HTMLElement }) => void;
}) => (
  <button type="button" class="icon" data-part={icon} title={name} aria-disabled={isOff} onClick={onPress}>
    <Icon name={icon} />
  </button>
);
