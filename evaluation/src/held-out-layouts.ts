import { type Layout, lane } from './written-mails.ts'

/** Ten layouts that were written after the reader was finished: the first figures on them are in docs/decisions/0153-mails-are-read-by-rules.md. */
export const heldOutLayouts: Readonly<Record<string, Layout>> = {
  'single letters': (w) => {
    const [a, b] = w.cities(2)
    const [t, d, e] = [w.trailer(), w.day(), w.later()]
    return {
      text: `O: ${a?.name}\nD: ${b?.name}\nPU: ${d.word}\nDEL: ${e.word}\nEQ: ${t.word}\nWT: ${w.pounds()}`,
      lanes: [lane(a?.name ?? '', b?.name ?? '', { pickup: d.day, delivery: e.day, equipment: t.code })],
    }
  },
  'slashes in capitals': (w) => {
    const [a, b] = w.cities(2)
    const [t, d] = [w.trailer(), w.day()]
    return {
      text: `${a?.name.replace(',', '').toUpperCase()} > ${b?.name.replace(',', '').toUpperCase()} // ${t.word.toUpperCase()} // ${w.number(20, 44)}K // ${d.word.toUpperCase()}`,
      lanes: [lane(a?.name ?? '', b?.name ?? '', { pickup: d.day, equipment: t.code })],
    }
  },
  'a sentence with both days': (w) => {
    const [a, b] = w.cities(2)
    const d = w.day()
    const e = w.later()
    return {
      text: `Hi there,\n\nWe have a load picking up in ${a?.name} on ${d.word} and delivering to ${b?.name} on ${e.word}. It will need a reefer set at -10. What would you charge?${w.signature()}`,
      lanes: [lane(a?.name ?? '', b?.name ?? '', { pickup: d.day, delivery: e.day, equipment: 'R' })],
    }
  },
  'skids from a facility': (w) => {
    const [a, b] = w.cities(2)
    const [d, e] = [w.day(), w.later()]
    return {
      text: `Could you move ${w.number(10, 26)} skids of ${w.goods()} from our facility in ${a?.name} over to ${b?.name}? They are ready ${d.word} and must arrive by ${e.word}. Dry van is fine.${w.signature()}`,
      lanes: [lane(a?.name ?? '', b?.name ?? '', { pickup: d.day, delivery: e.day, equipment: 'V' })],
    }
  },
  'HTML table within a table': (w) => {
    const all = w.cities(4)
    const rows = [0, 2].map((nth) => ({
      a: all[nth],
      b: all[nth + 1],
      t: w.trailer(),
      d: w.day(),
      e: w.later(),
    }))
    return {
      isHtml: true,
      text: `<table width="100%"><tr><td><p>Team,</p><p>please bid by noon.</p><table><thead><tr><th>PU City</th><th>ST</th><th>Drop City</th><th>ST</th><th>Trailer Type</th><th>PU Date</th><th>Del Date</th></tr></thead><tbody>${rows.map(({ a, b, t, d, e }) => `<tr>${[a?.city, a?.state, b?.city, b?.state, t.word, d.word, e.word].map((cell) => `<td><p>${cell}</p></td>`).join('')}</tr>`).join('')}</tbody></table></td></tr></table>`,
      lanes: rows.map(({ a, b, t, d, e }) =>
        lane(a?.name ?? '', b?.name ?? '', { pickup: d.day, delivery: e.day, equipment: t.code }),
      ),
    }
  },
  'two lanes in a sentence': (w) => {
    const [a, b, c, e] = w.cities(4)
    const t = w.trailer()
    const d = w.day()
    return {
      text: `Please quote ${a?.name} to ${b?.name} and ${c?.name} to ${e?.name}, both ${t.word}, both picking up ${d.word}.${w.signature()}`,
      lanes: [
        lane(a?.name ?? '', b?.name ?? '', { pickup: d.day, equipment: t.code }),
        lane(c?.name ?? '', e?.name ?? '', { pickup: d.day, equipment: t.code }),
      ],
    }
  },
  'one origin, two destinations': (w) => {
    const [a, b, c] = w.cities(3)
    const [t, d] = [w.trailer(), w.day()]
    return {
      text: `Looking for ${t.word} rates out of ${a?.name} (ready ${d.word}) to each of these:\n${b?.name}\n${c?.name}`,
      lanes: [
        lane(a?.name ?? '', b?.name ?? '', { pickup: d.day, equipment: t.code }),
        lane(a?.name ?? '', c?.name ?? '', { pickup: d.day, equipment: t.code }),
      ],
    }
  },
  'a load in each column': (w) => {
    const [a, b, c, e] = w.cities(4)
    const [t, u, d, f] = [w.trailer(), w.trailer(), w.day(), w.day()]
    return {
      text: `\tLoad A\tLoad B\nOrigin\t${a?.name}\t${c?.name}\nDestination\t${b?.name}\t${e?.name}\nEquipment\t${t.word}\t${u.word}\nPickup date\t${d.word}\t${f.word}`,
      lanes: [
        lane(a?.name ?? '', b?.name ?? '', { pickup: d.day, equipment: t.code }),
        lane(c?.name ?? '', e?.name ?? '', { pickup: f.day, equipment: u.code }),
      ],
    }
  },
  'a reply that names no lane': (w) => {
    const [a, b] = w.cities(2)
    return {
      subject: 'RE: Quote',
      text: `Any update on this one? We would like to book it today.\n\nFrom: Rep <rep@lanehaul.com>\nSent: Monday, November 30, 2026 9:00 AM\nTo: John <john@acmefoods.com>\nSubject: Quote\n\n${a?.name} to ${b?.name}, van, 11/30: $1,950 all in.`,
      lanes: [],
    }
  },
  'a text without punctuation': (w) => {
    const [a, b] = w.cities(2)
    const t = w.trailer()
    return {
      text: `need ${t.word} ${a?.name.replace(',', '')} to ${b?.name.replace(',', '')} pick fri drop mon target 1800`,
      lanes: [
        lane(a?.name ?? '', b?.name ?? '', {
          pickup: '2026-12-04',
          delivery: '2026-12-07',
          equipment: t.code,
        }),
      ],
    }
  },
}
