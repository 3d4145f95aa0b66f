import { useRef, useState } from "react";
import type { DragEvent, Ref } from "react";

const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes("Files");

/** Receives files dropped on an element, unless `isOpen` is false. `isOver` is true while files are dragged over it. */
export function useFileDrop(isOpen: boolean, onFiles: (files: File[]) => void) {
  const [isOver, setOver] = useState(false);
  // Child elements emit their own events.
  const depth = useRef(0);
  const leave = () => {
    depth.current = 0;
    setOver(false);
  };
  const handlers = {
    onDragEnter(event: DragEvent) {
      if (!isOpen || !hasFiles(event)) return;
      event.preventDefault();
      depth.current += 1;
      setOver(true);
    },
    onDragOver(event: DragEvent) {
      if (!isOpen || !hasFiles(event)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
    },
    onDragLeave() {
      depth.current -= 1;
      if (depth.current <= 0) leave();
    },
    onDrop(event: DragEvent) {
      if (!isOpen || !hasFiles(event)) return;
      event.preventDefault();
      leave();
      // A folder appears as a file without a type, and cannot be read: the browser reports that when it is uploaded.
      onFiles([...event.dataTransfer.files]);
    },
  };
  return { isOver, handlers };
}

/** A hidden field that opens the browser's file chooser when it is clicked. */
export function FileChooser({
  ref,
  accept,
  onFiles,
}: {
  ref: Ref<HTMLInputElement>;
  accept?: string;
  onFiles: (files: File[]) => void;
}) {
  return (
    <input
      ref={ref}
      type="file"
      multiple
      accept={accept}
      tabIndex={-1}
      aria-hidden
      className="hidden"
      onChange={({ currentTarget }) => {
        onFiles([...(currentTarget.files ?? [])]);
        currentTarget.value = "";
      }}
    />
  );
}
