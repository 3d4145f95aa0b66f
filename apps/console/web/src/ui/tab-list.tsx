import { Tabs } from "radix-ui";

/** The heads of tabs, within `Tabs.Root`. */
export function TabList({ label, tabs }: { label: string; tabs: readonly { value: string; label: string }[] }) {
  return (
    <Tabs.List aria-label={label} className="mb-2.5 flex gap-1 overflow-x-auto border-b border-line">
      {tabs.map(({ label: text, value }) => (
        <Tabs.Trigger
          key={value}
          value={value}
          className="-mb-px shrink-0 rounded-t border-b-2 border-transparent px-2.5 py-1.5 text-sm font-medium text-muted -outline-offset-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
        >
          {text}
        </Tabs.Trigger>
      ))}
    </Tabs.List>
  );
}
