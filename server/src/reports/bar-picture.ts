import { crc32, deflateSync } from 'node:zlib'

const width = 560
const height = 120
/** Twice as many pixels as the mail shows, for sharp screens. */
export const pictureSize = { width: width / 2, height: height / 2 }

/** White, the bars, the last bar, a loss, and the line of zero. */
const palette = [0xffffff, 0xa9c1e8, 0x2f5fb3, 0xc0392b, 0x8a8f98] as const
const colors = { bar: 1, last: 2, loss: 3, line: 4 } as const

/** One chunk of a PNG file: its length, its name and data, and their checksum. */
function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}

/**
 * A PNG picture of bars on a line of zero, the last one in another color, losses below the line in red. A value that is not known leaves a
 * gap. A library would draw more than bars, and is not needed for them.
 */
export function barPicture(values: readonly (number | null)[]): Buffer {
  const known = values.map((value) => value ?? 0)
  const [highest, lowest] = [Math.max(0, ...known), Math.min(0, ...known)]
  const scale = (height - 2) / (highest - lowest || 1)
  const zero = Math.round(highest * scale)
  const step = width / Math.max(1, values.length)
  // Each line begins with the number of its filter: none.
  const pixels = Buffer.alloc((width + 1) * height)
  const fill = (from: number, to: number, bar: { left: number; right: number; color: number }) => {
    for (let y = from; y < to; y++)
      pixels.fill(bar.color, y * (width + 1) + 1 + bar.left, y * (width + 1) + 1 + bar.right)
  }
  for (const [nth, value] of known.entries()) {
    const end = Math.round((highest - value) * scale)
    const color = value < 0 ? colors.loss : nth === known.length - 1 ? colors.last : colors.bar
    fill(Math.min(end, zero), Math.max(end, zero), {
      left: Math.round((nth + 0.15) * step),
      right: Math.round((nth + 0.85) * step),
      color,
    })
  }
  fill(zero, zero + 2, { left: 0, right: width, color: colors.line })
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Eight bits per pixel, each the number of a color.
  header.set([8, 3, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 0xff, color & 0xff]))),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}
