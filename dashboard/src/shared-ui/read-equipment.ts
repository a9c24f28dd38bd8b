import { knownEquipment } from '#engine/equipment.ts'

/**
 * The engine's code for a common equipment name. Other text is returned trimmed, because a brokerage can have codes of
 * its own.
 *
 * @example readEquipment("53' Dry Van") // 'V'
 */
export function readEquipment(text: string): string {
  return knownEquipment(text) ?? text.trim()
}
