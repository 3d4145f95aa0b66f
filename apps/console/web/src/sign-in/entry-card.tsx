import type { ReactNode } from "react";

/** What somebody sees who is not signed in yet. */
export const EntryCard = ({ title, text, children }: { title: string; text?: string; children: ReactNode }) => (
  <main className="flex h-full items-center justify-center overflow-y-auto p-4">
    <div className="w-full max-w-sm rounded-2xl border border-line bg-surface p-7 shadow-pop">
      <img src="/icon.svg" alt="" width="40" height="40" className="mb-4" />
      <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
      {text !== undefined && <p className="mt-1 text-sm text-muted">{text}</p>}
      <div className="mt-5">{children}</div>
    </div>
  </main>
);
