import { gazetteer } from '#geography/gazetteer.ts'
import { isPostalArea, marketOf, marketsNamed } from '#geography/markets.ts'
import { placeCalled } from '#geography/other-names.ts'
import { readAnyPlace } from '#geography/read-place.ts'

/**
 * Builds all indexes that reading a place may need. An index takes up to half a second when it is first used, so a service builds
 * all of them before it answers requests: otherwise all callers would wait for the first unusual place.
 */
export function loadPlaces(): void {
  const { byName } = gazetteer()
  isPostalArea('M5H')
  marketsNamed('dallas')
  // The markets of US postal areas, and the markets of countries without such areas.
  for (const country of ['US', 'CA', 'MX']) {
    const place = byName.find((one) => one.country === country)
    if (place !== undefined) marketOf(place)
  }
  // An unknown name is searched in all indexes, which builds them; that of counties is only used after the name of a city.
  placeCalled('no such place', 'TX')
  placeCalled('nashville davidson', 'TN')
  for (const text of ['no such place', 'M5H 2N2', '75201', 'ATL', 'Cd Juarez']) readAnyPlace(text)
}
