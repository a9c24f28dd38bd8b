import { textOfBytes } from '#contract/text-of-bytes.ts'

/** The text of a file that a person chose. */
export async function textOfFile(file: Blob): Promise<string> {
  return textOfBytes(new Uint8Array(await file.arrayBuffer()))
}
