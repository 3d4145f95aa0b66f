/** Downloads a file. It has a generic type, so that no browser displays or runs it. */
export function saveFile(bytes: ArrayBuffer, name: string): void {
  const address = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}
