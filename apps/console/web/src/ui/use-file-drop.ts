import { useRef, useState } from "react";
import type { DragEvent } from "react";

const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes("Files");

/** Takes files that are dragged over an element and dropped on it; nothing where `isOpen` is false. */
export function useFileDrop(isOpen: boolean, onFiles: (files: File[]) => void) {
  const [isOver, setOver] = useState(false);
  // Elements within tell of their own entering and leaving, too.
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
      // A folder looks like a file without a type, and cannot be read: the browser says so when it is sent.
      onFiles([...event.dataTransfer.files]);
    },
  };
  return { isOver, handlers };
}
