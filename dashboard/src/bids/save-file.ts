/** Lets the browser save a file that an answer contains in Base64. */
export function saveFile({
  file_name: name,
  content_type: type,
  base64,
}: {
  readonly file_name: string
  readonly content_type: string
  readonly base64: string
}): void {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
  const address = URL.createObjectURL(new Blob([bytes], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
