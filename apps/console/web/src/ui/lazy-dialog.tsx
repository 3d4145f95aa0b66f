import { Suspense, createElement, lazy } from "react";
import type { ComponentType, FunctionComponent } from "react";

/** Opens the element as a modal dialog while it is mounted; the focus then returns to the previous element. */
function keepOpen(dialog: HTMLDialogElement) {
  dialog.showModal();
  return () => dialog.close();
}

/**
 * Returns a dialog whose script is loaded when it first opens. Until then an empty modal dialog receives the keyboard:
 * keys typed for the dialog must not run as commands.
 */
export function lazyDialog<Props extends object>(load: () => Promise<ComponentType<Props>>): FunctionComponent<Props> {
  const Loaded: ComponentType<Props> = lazy(async () => ({ default: await load() }));
  return (props) => (
    <Suspense fallback={<dialog ref={keepOpen} className="opacity-0 backdrop:bg-transparent" />}>
      {createElement(Loaded, props)}
    </Suspense>
  );
}
